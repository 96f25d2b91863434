#!/bin/sh
# Runs in the guest: the job's disk is nvme1, a tar of /out goes to nvme2,
# ttyS1 is the job's output; ttyS2 tells that the guest is up, and the exit code.
stty -F /dev/ttyS1 raw -echo
echo up >/dev/ttyS2
mkdir -p /job /out
mount -t ext4 -o noatime /dev/nvme1n1 /job
script=$(sed -n 's/.*e2e\.script=\([^ ]*\).*/\1/p' /proc/cmdline)
cd /job && sh "$script" </dev/null >/dev/ttyS1 2>&1
code=$?
tar -C /out -cf - . | dd of=/dev/nvme2n1 bs=1M conv=fsync status=none
echo $code >/dev/ttyS2
stty -F /dev/ttyS1 cooked
sleep 0.2
# A disk that is kept has to be whole; the keys only begin what they ask for.
sync
echo u >/proc/sysrq-trigger
until grep -q ' / ext4 ro' /proc/mounts; do sleep 0.1; done
echo b >/proc/sysrq-trigger
