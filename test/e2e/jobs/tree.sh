# apply makes the kubelet's tree, a second one writes nothing, diff agrees, and
# --remove takes all away. The numbers are worked out by hand.
. ./lib.sh
kqos 1 diff pods
gone $kubepods
kqos 0 apply pods
shares=$((($(nproc) * 1000 - 200) * 1024 / 1000))
memory=$(($(awk '/MemTotal/ {print $2}' /proc/meminfo) * 1024 - 200 * 1024 * 1024))
page=$((memory / 4096 * 4096))
holds $kubepods memory.max $page memory/memory.limit_in_bytes $page
# All CPUs less 200m.
holds $kubepods cpu.weight "$(weight $shares)" cpu/cpu.shares $shares
holds $burstable cpu.weight "$(weight 307)" cpu/cpu.shares 307
holds "$(dirname $pod_c)" cpu.weight 1 cpu/cpu.shares 2
holds $pod_a cpu.weight "$(weight 204)" cpu/cpu.shares 204
holds $pod_a cpu.max "20000 100000" cpu/cpu.cfs_quota_us 20000
holds $pod_a memory.max 104857600 memory/memory.limit_in_bytes 104857600
holds $pod_a pids.max 512 pids/pids.max 512
holds $pod_b cpu.weight "$(weight 307)" cpu/cpu.shares 307
holds $pod_b cpu.max "100000 100000" cpu/cpu.cfs_quota_us 100000
holds $pod_b memory.max 419430400 memory/memory.limit_in_bytes 419430400
holds $pod_c cpu.weight 1 cpu/cpu.shares 2
holds $pod_c memory.max max memory/memory.limit_in_bytes 9223372036854771712

before=$(limits $kubepods)
kqos 0 apply pods -v -v -o 'jsonpath={.result.created} {.result.updated} {.result.failed}'
is "second apply" "$(tail -1 "$log")" "0 0 0"
! grep -q wrote "$log" || fail "the second apply wrote:"
env -i PATH=/usr/bin:/bin HOME=/root SHELL=/bin/sh \
	sh -c "cd / && $PWD/kqos apply $PWD/pods --config $PWD/kubelet.yaml --driver $DRIVER" </dev/null >"$log" 2>&1 ||
	fail "as cron runs it:"
is "the tree after cron" "$(limits $kubepods)" "$before"
kqos 0 diff pods

kqos 0 apply pods --remove
gone $kubepods
