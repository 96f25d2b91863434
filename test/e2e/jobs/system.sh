# systemReserved and kubeReserved enforced on /system.slice and /kubelet.slice,
# as many nodes have it. kqos runs outside of what it limits.
config=system.yaml
cat kubelet.yaml - >system.yaml <<EOF
enforceNodeAllocatable: [pods, system-reserved, kube-reserved]
systemReservedCgroup: /system.slice
kubeReservedCgroup: /kubelet.slice
EOF
sed -i 's/^systemReserved:.*/systemReserved: {cpu: 100m, memory: 600Mi}/' system.yaml
. ./lib.sh
outside() { # CODE ARGUMENT…
	want=$1
	shift
	code=0
	systemd-run --quiet --wait --pipe --slice=operator.slice --working-directory="$PWD" \
		./kqos "$@" --driver "$DRIVER" --config $config >"$log" 2>&1 </dev/null || code=$?
	[ $code = "$want" ] || fail "kqos $* ended with $code, not $want:"
}
outside 2 apply pods --create-reserved
says "did not make"
holds /system.slice memory.max max memory/memory.limit_in_bytes 9223372036854771712
outside 0 apply pods --create-reserved --adopt
holds /system.slice memory.max 629145600 memory/memory.limit_in_bytes 629145600
holds /system.slice cpu.weight "$(weight 102)" cpu/cpu.shares 102
holds /kubelet.slice memory.max 104857600 memory/memory.limit_in_bytes 104857600
outside 0 diff pods
[ ! -e /etc/systemd/system/system.slice ] || fail "system.slice, which is systemd's, has a unit file of kqos's"
systemctl daemon-reload
systemd-run --quiet --wait true
holds /system.slice memory.max 629145600 memory/memory.limit_in_bytes 629145600
holds /system.slice cpu.weight "$(weight 102)" cpu/cpu.shares 102
outside 0 diff pods

# Less than is in use is not written.
sed -i 's/600Mi/4Mi/' system.yaml
outside 2 apply pods --adopt
holds /system.slice memory.max 629145600 memory/memory.limit_in_bytes 629145600
outside 0 apply pods --remove --adopt
says "it stays"
there /system.slice
gone /kubelet.slice
if [ $version = 2 ]; then
	systemctl set-property --runtime system.slice MemoryMax=infinity CPUWeight=
else
	systemctl set-property --runtime system.slice MemoryLimit=infinity CPUShares=
fi
