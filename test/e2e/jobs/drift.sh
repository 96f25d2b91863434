# What another changed is found, put right, and stays right when systemd reloads.
. ./lib.sh
kqos 0 apply pods
before=$(limits $kubepods)

echo 209715200 >"$(control $pod_a memory.max memory/memory.limit_in_bytes)"
echo 77 >"$(control $pod_b cpu.weight cpu/cpu.shares)"
echo 99 >"$(control $pod_c pids.max pids/pids.max)"
kqos 1 diff pods -o 'jsonpath={range .changes[*]}{.path} {.file} {.from}{"\n"}{end}'
is "number of changes" "$(grep -c kubepods "$log")" 3
says "$pod_a .*memory.* 209715200"
says "$pod_b .*cpu.* 77"
says "$pod_c .*pids.max 99"
kqos 0 apply pods
is "the tree after repair" "$(limits $kubepods)" "$before"

if [ "$DRIVER" = systemd ]; then
	unit=$(basename $pod_b)
	if [ $version = 2 ]; then
		systemctl set-property --runtime "$unit" MemoryMax=500M CPUWeight=99 TasksMax=44
	else
		systemctl set-property --runtime "$unit" MemoryLimit=500M CPUShares=99 TasksMax=44
	fi
	kqos 1 diff pods
	kqos 0 apply pods
	is "the tree after set-property and repair" "$(limits $kubepods)" "$before"
	is "TasksMax of $unit" "$(systemctl show -P TasksMax "$unit")" 512
fi
systemctl daemon-reload
is "the tree after daemon-reload" "$(limits $kubepods)" "$before"
kqos 0 diff pods
systemd-run --quiet --wait true
is "the tree after another unit ran" "$(limits $kubepods)" "$before"
