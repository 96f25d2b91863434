# Runs in the machine, and only records: what was found lies in /out, and the Go
# test judges it. DRIVER is the cgroup driver, FIRST who makes the tree (kqos or
# kubelet), CONFIG the drop-ins of the kubelet.
set -u
export PATH=/job:$PATH
manifests=/etc/kubernetes/manifests
# inspect, doctor and collect find the kubelet's configuration by themselves.
config='--config /var/lib/kubelet/config.yaml --config-dir /etc/kubelet.d'
mkdir -p /out/checkpoints $manifests /var/lib/kubelet /etc/kubelet.d /etc/containerd

now() { cut -d' ' -f1 /proc/uptime; }

die() {
	echo "$(now) s: $*"
	tail -50 /var/log/kubelet.log
	cp /var/log/kubelet.log /out/
	exit 1
}

# record NAME COMMAND…: its output, messages and exit code.
record() {
	name=$1
	shift
	code=0
	timeout 300 "$@" >"/out/$name" 2>"/out/$name.err" || code=$?
	echo $code >"/out/$name.code"
	echo "$(now) s: $name ended with $code"
}

# managed: the control files of kubepods, its classes and pods.
managed() {
	find /sys/fs/cgroup -path '*kubepods*' ! -path '*/cri-containerd*' ! -regex '.*/[0-9a-f]+/[^/]*' \( \
		-name cpu.weight -o -name cpu.max -o -name 'memory.m[ia][nx]' -o -name memory.low -o -name memory.high \
		-o -name pids.max -o -name 'hugetlb.*max' -o -name cpuset.cpus -o -name cpuset.mems \
		-o -name cpu.shares -o -name cpu.cfs_quota_us -o -name cpu.cfs_period_us -o -name '*.limit_in_bytes' \) | sort
}

values() { managed | xargs grep -H '' >"/out/$1"; }

start_kubelet() {
	echo "KUBELET_EXTRA=$*" >/etc/kubelet.env
	systemctl start kubelet || die 'the kubelet does not start'
	guest wait "$(ls $manifests | wc -l)" 1800 || die 'the pods do not run'
	echo "$(now) s: all pods run"
}

cp *.service /etc/systemd/system/
cp kubelet.yaml /var/lib/kubelet/config.yaml
for drop in $CONFIG; do cp "config/$drop" /etc/kubelet.d/; done
echo '10.0.2.15 testnode' >>/etc/hosts
guest network 10.0.2.15 || exit 1
systemd=false
[ "$DRIVER" != systemd ] || systemd=true
sed "s/SYSTEMD/$systemd/" containerd.toml >/etc/containerd/config.toml
systemctl daemon-reload
systemctl start containerd || {
	journalctl -u containerd --no-pager | tail -30
	exit 1
}
ctr -n k8s.io images import --local --no-unpack pause.tar >/dev/null || exit 1
echo "$(now) s: containerd runs"

if [ "$FIRST" = kqos ]; then
	# A UID that is a hash of the kubelet's own types is known to it alone.
	mkdir known && cp pods/* known/ && rm known/hashed.yaml
	record apply.json kqos apply --static known $config --pods-complete -o json
	values before.txt
	guest watch /out/changes.txt $(managed) &
fi
cp pods/* $manifests/
start_kubelet
if [ "$FIRST" = kubelet ]; then guest watch /out/changes.txt $(managed) & fi
# The kubelet looks after its QoS classes once a minute.
sleep 75
values after.txt
guest get https://127.0.0.1:10250/pods /out/pods.json
guest get https://127.0.0.1:10250/configz /out/configz.json
cp /var/lib/kubelet/*_state /out/checkpoints/

record diff.json kqos diff --pods-from kubelet $config -o json
record diff-pods.json kqos diff --as-written /out/pods.json --pods-complete $config -o json
record apply-live.json kqos apply $config -o json
record inspect.json kqos inspect --timeout 2m -o json
record doctor.json kqos doctor -o json
record start.json kqos doctor --start -o json
record allocatable.json kqos allocatable $config -o json
sed -n 's/.*"SyncLoop ADD" source="file" pods=\[\(.*\)\]/\1/p' /var/log/kubelet.log | tr ',' '\n' |
	sed -n 's/.*"default\/\(.*\)-testnode".*/\1/p' >/out/order.txt
record simulate.json kqos simulate --static $(sed "s|.*|-f $manifests/&.yaml|" /out/order.txt) --write-state /out/simulated $config -o json
record collect.txt kqos collect -O /out/node.tar.gz

systemctl stop kubelet
cp /var/log/kubelet.log /out/kubelet.log
record apply-stopped.json kqos apply --adopt --static $manifests $config -o json
guest serve /out &
cat >/etc/kubernetes/kubeconfig <<'END'
apiVersion: v1
kind: Config
clusters: [{name: node, cluster: {server: "http://127.0.0.1:8080"}}]
users: [{name: kubelet, user: {}}]
contexts: [{name: node, context: {cluster: node, user: kubelet}}]
current-context: node
END
start_kubelet --kubeconfig /etc/kubernetes/kubeconfig
sleep 75
values again.txt
guest get https://127.0.0.1:10250/pods /out/pods-again.json
record diff-again.json kqos diff $config -o json
record inspect-again.json kqos inspect --timeout 2m -o json
cp /var/log/kubelet.log /out/kubelet-again.log
exit 0
