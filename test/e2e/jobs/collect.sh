# A node, healthy and then broken in one way after the other, and what collect
# packs of each. The host compares what the commands say of the archive there with
# what they say here; nodes_test.go has what they must find.
. ./node.sh
settle
if [ $version = 1 ]; then
	capture v1
	exit
fi
capture healthy-v2
tree="diff-containers|inspect|doctor"

change() { # CGROUP FILE VALUE
	printf "echo '%s' >%s\n" "$(cat "$mount$1/$2")" "$mount$1/$2" >>$tmp/undo
	echo "$3" >"$mount$1/$2"
}
database=$kubepods/kubepods-pod11111111_0000_4000_8000_000000000001.slice
ingress=$burstable/kubepods-burstable-pod11111111_0000_4000_8000_000000000002.slice
change $database memory.max 134217728
change $burstable cpu.weight 77
change $database/$(container postgres) cpuset.cpus 0-3
change $ingress/$(container envoy) cpu.max "50000 100000"
capture drifted "$tree"
. $tmp/undo

# Two pods that are gone: of one a process lives on, of the other the folder only.
scope $burstable/kubepods-burstable-pod99999999_0000_4000_8000_000000000001.slice "$(id e1)"
systemctl start kubepods-besteffort-pod99999999_0000_4000_8000_000000000002.slice
capture leaked "$tree"
systemctl stop "cri-containerd-$(id e1).scope" 'kubepods*pod99999999*.slice'

# Half of a file; and a wrong checksum of which the kubelet takes no notice, since
# dataChecksum beside it is right.
cp -r /var/lib/kubelet $tmp/kubelet
half=$(($(wc -c </var/lib/kubelet/cpu_manager_state) / 2))
head -c $half $tmp/kubelet/cpu_manager_state >/var/lib/kubelet/cpu_manager_state
sed -i 's/"checksum":\([0-9]*\)/"checksum":1\1/' /var/lib/kubelet/memory_manager_state
capture torn-state "$tree"
cp $tmp/kubelet/*_state /var/lib/kubelet

# The runtime was told of another driver, and started a pod with it.
sed -i s/true/false/ /etc/containerd/config.toml
sandbox=$mount/kubepods/besteffort/pod99999999-0000-4000-8000-000000000003/$(id e3)
mkdir -p "$sandbox" /var/lib/kubelet/pods/99999999-0000-4000-8000-000000000003 /var/log/pods/shop_late_99999999-0000-4000-8000-000000000003
for up in $mount/kubepods $mount/kubepods/besteffort; do echo "+cpu +cpuset +memory +pids" >$up/cgroup.subtree_control; done
sleep infinity &
echo $! >"$sandbox/cgroup.procs"
capture driver-mismatch "$tree"
