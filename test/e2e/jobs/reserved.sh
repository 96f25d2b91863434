# The reserved cgroup that the kubelet refuses to start without is made only when
# asked for; under systemd its unit file stays, and brings it back.
config=reserved.yaml
if [ "$DRIVER" = systemd ]; then reserved=/kubelet.slice; else reserved=/kqos-kubelet; fi
cat kubelet.yaml - >reserved.yaml <<EOF
enforceNodeAllocatable: [pods, kube-reserved]
kubeReservedCgroup: $reserved
EOF
. ./lib.sh
kqos 2 apply pods
says create-reserved
gone $reserved
kqos 0 apply pods --create-reserved
check() {
	holds $reserved memory.max 104857600 memory/memory.limit_in_bytes 104857600
	holds $reserved cpu.weight "$(weight 102)" cpu/cpu.shares 102
	if [ $version = 2 ]; then # what the kubelet looks for before it starts
		for c in cpu cpuset memory pids hugetlb; do
			grep -qw $c $mount$reserved/cgroup.controllers || fail "$reserved lacks $c: $(cat $mount$reserved/cgroup.controllers)"
		done
	else
		for c in cpu cpuset memory pids hugetlb; do [ -d $mount/$c$reserved ] || fail "$reserved is not in $c"; done
	fi
}
check
kqos 0 diff pods
systemctl daemon-reload
check
if [ "$DRIVER" = systemd ]; then
	unit=/etc/systemd/system/kubelet.slice
	grep -q 'Before=.*kubelet.service' $unit
	# As after a boot: nothing stands, and systemd starts what is enabled.
	systemctl stop kqos-kubelet.service kubelet.slice
	rm -rf /run/systemd/system.control/kubelet.slice.d /run/systemd/transient/kubelet.slice*
	systemctl daemon-reload
	[ ! -d $mount$reserved ] || [ ! -d $mount/memory$reserved ] || fail "$reserved still stands"
	systemctl start multi-user.target
	systemctl is-enabled -q kqos-kubelet.service
	systemctl start kqos-kubelet.service
	kqos 0 apply pods --create-reserved
	check
fi
kqos 0 apply pods --remove
gone $reserved
[ ! -e /etc/systemd/system/kubelet.slice ] || fail "the unit file stays after --remove"
