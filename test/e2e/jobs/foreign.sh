# A kubelet's tree, which bears no mark, is not written without --adopt, and a
# list of pods that lacks some never changes what is a sum over all of them.
. ./lib.sh
./kubelet &
if [ "$DRIVER" = systemd ]; then
	for pod in $pod_a $pod_b $pod_c; do
		systemd-run --quiet --slice "$(basename $pod)" sleep 1000
	done
	if [ $version = 2 ]; then
		systemctl set-property --runtime kubepods-burstable.slice CPUWeight=77
		systemctl set-property --runtime kubepods-besteffort.slice CPUWeight=1
		systemctl set-property --runtime "$(basename $pod_b)" MemoryMax=500M CPUWeight=66
		systemctl set-property --runtime kubepods.slice MemoryMax=1500M
	else
		systemctl set-property --runtime kubepods-burstable.slice CPUShares=777
		systemctl set-property --runtime kubepods-besteffort.slice CPUShares=2
		systemctl set-property --runtime "$(basename $pod_b)" MemoryLimit=500M CPUShares=666
		systemctl set-property --runtime kubepods.slice MemoryLimit=1500M
	fi
else
	for controller in cpu memory pids cpuset hugetlb; do
		for pod in $pod_a $pod_b $pod_c; do
			mkdir -p "$(dirname "$(control $pod x $controller/x)")"
		done
	done
	if [ $version = 2 ]; then
		for up in "" $kubepods $burstable; do echo "+cpu +memory +pids" >$mount$up/cgroup.subtree_control; done
	fi
	echo 1500M >"$(control $kubepods memory.max memory/memory.limit_in_bytes)"
	echo 500M >"$(control $pod_b memory.max memory/memory.limit_in_bytes)"
	echo 77 >"$(control $burstable cpu.weight cpu/cpu.shares)"
	if [ $version = 2 ]; then echo 1 >"$mount$kubepods/besteffort/cpu.weight"; else echo 2 >"$mount/cpu$kubepods/besteffort/cpu.shares"; fi
fi
before=$(limits $kubepods)
sums() { cat "$(control $burstable cpu.weight cpu/cpu.shares)" "$(control "$(dirname $pod_c)" cpu.weight cpu/cpu.shares)"; }
before_sums=$(sums)
mkdir $tmp/none
printf 'apiVersion: v1\nkind: PodList\nitems: []\n' >$tmp/none/list.yaml
for pods in pods $tmp/none pods/guaranteed.yaml; do
	kqos 2 apply $pods
	says "did not make\|not made by kqos"
	is "the foreign tree after apply $pods" "$(limits $kubepods)" "$before"
	kqos 2 apply $pods --prune --settle 0s
	is "the foreign tree after --prune of $pods" "$(limits $kubepods)" "$before"
done
# On v1 these stand in some hierarchies only: to the kubelet, none of them exists.
if [ $version = 1 ]; then kqos 0 apply $tmp/none --remove --adopt; else kqos 2 apply $tmp/none --remove --adopt; fi
is "the foreign tree after --remove" "$(limits $kubepods)" "$before"
for pods in $tmp/none pods/guaranteed.yaml; do
	kqos 2 apply $pods --adopt --settle 1s --prune
	! grep -q "names no version\|tell its version" "$log" || fail "the kubelet's version is not known:"
	is "the tiers' weights after $pods with --adopt" "$(sums)" "$before_sums"
	there $pod_b
	there $pod_c
done
