# The boot after reboot.sh.
config=reserved.yaml
cat kubelet.yaml - >$config <<EOT
enforceNodeAllocatable: [pods, kube-reserved]
kubeReservedCgroup: /kubelet.slice
EOT
. ./lib.sh
started() { systemctl is-active -q kubelet.service; }
eventually 60 started
if [ $version = 2 ]; then shares=$(weight 102); else shares=102; fi
is "what the kubelet found" "$(tr '\n' ' ' </var/lib/kubelet-start)" "cpu cpuset memory pids hugetlb 104857600 $shares "
gone $kubepods
holds /kubelet.slice memory.max 104857600 memory/memory.limit_in_bytes 104857600
kqos 0 apply pods
kqos 0 diff pods
kqos 0 apply pods --remove
gone /kubelet.slice
[ ! -e /etc/systemd/system/kubelet.slice ] || fail "the unit file stays after --remove"
