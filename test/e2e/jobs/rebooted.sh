# The boot after reboot.sh, which left the configuration on the disk.
config=/etc/kqos-reserved.yaml
. ./lib.sh
started() { systemctl is-active -q kubelet.service; }
eventually started
is "what the kubelet found" "$(tr '\n' ' ' </var/lib/kubelet-start)" "cpu cpuset memory pids hugetlb "
gone $kubepods
systemctl daemon-reload
systemd-run --quiet --wait true
kqos 0 apply pods
holds /kubelet.slice memory.max 104857600 memory/memory.limit_in_bytes 104857600
holds /kubelet.slice cpu.weight "$(weight 102)" cpu/cpu.shares 102
kqos 0 diff pods
kqos 0 apply pods --remove
gone /kubelet.slice
[ ! -e /etc/systemd/system/kubelet.slice ] || fail "the unit file stays after --remove"
