# A node as a kubelet, containerd and runc leave it, with processes that stand in
# for them: sourced by the jobs that look at a whole node.
config=/var/lib/kubelet/config.yaml
mkdir -p /var/lib/kubelet /var/log/pods /var/log/containers /etc/containerd /out
cp shop/config $config
printf 'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]\n  SystemdCgroup = true\n' >/etc/containerd/config.toml
. ./lib.sh

# scope POD-SLICE ID FILE=VALUE…: a container's cgroup with a process, as runc makes it.
scope() {
	scope_of=$1
	scope_id=$2
	shift 2
	sleep infinity &
	busctl call org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager StartTransientUnit \
		'ssa(sv)a(sa(sv))' "cri-containerd-$scope_id.scope" fail 3 PIDs au 1 $! Slice s "$(basename "$scope_of")" Delegate b true 0 >"$log"
	moved() { grep -q "$scope_id" "/proc/$!/cgroup"; }
	eventually moved
	if [ $version = 1 ]; then # systemd has no such hierarchies, runc joins them by itself
		for c in cpuset hugetlb; do
			mkdir -p "$mount/$c$scope_of/cri-containerd-$scope_id.scope"
			for f in cpuset.cpus cpuset.mems; do
				[ $c = cpuset ] || continue
				for up in "$(dirname "$scope_of")" "$scope_of" "$scope_of/cri-containerd-$scope_id.scope"; do
					[ -n "$(cat "$mount/cpuset$up/$f")" ] || cat "$mount/cpuset/$f" >"$mount/cpuset$up/$f"
				done
			done
			echo $! >"$mount/$c$scope_of/cri-containerd-$scope_id.scope/cgroup.procs"
		done
	fi
	for pair; do
		at=$scope_of/cri-containerd-$scope_id.scope
		file=${pair%%=*}
		if [ $version = 2 ]; then at=$mount$at/$file; else at=$mount/${file%%/*}$at/${file#*/}; fi
		echo "${pair#*=}" >"$at" || fail "writing ${pair#*=} to $at"
	done
}

# settle: the node with the pods of shop, all as a kubelet wants it.
settle() {
	kqos 0 apply shop --pods-complete --create-reserved
	find $mount -type d \( -path '*/kubepods*' -o -path '*/kubelet.slice' \) -exec setfattr -x trusted.kqos {} + 2>"$log" || true
	kqos 0 simulate shop --write-state /var/lib/kubelet
	kqos 0 apply shop --dry-run --containers --pods-complete \
		-o 'go-template={{range .cgroups}}{{if eq .level "container"}}{{.pod.uid}} {{.pod.namespace}} {{.pod.name}} {{.path}}{{range $f, $v := .files}} {{$f}}={{$v}}{{end}}{{"\n"}}{{end}}{{end}}'
	grep '^1111' "$log" | sed 's/=max 100000/=max/' >$tmp/containers
	digit=1
	while read -r uid namespace pod path values; do
		slice=$(dirname "$path")
		name=$(basename "${path##*-}" .slice)
		if [ ! -e "/var/lib/kubelet/pods/$uid" ]; then
			mkdir -p "/var/lib/kubelet/pods/$uid" "/var/log/pods/${namespace}_${pod}_$uid"
			if [ $version = 2 ]; then sandbox=cpu.weight=1; else sandbox=cpu/cpu.shares=2; fi
			scope "$slice" "$(id 0$digit)" $sandbox
		fi
		ln -sf "/var/log/pods/${namespace}_${pod}_$uid/$name/0.log" "/var/log/containers/${pod}_${namespace}_$name-$(id a$digit).log"
		# The one value with a blank is cpu.max.
		scope "$slice" "$(id a$digit)" $(echo "$values" | sed 's/ 100000//')
		digit=$((digit + 1))
	done <$tmp/containers
	cp kubelet /usr/local/bin
	systemd-run --quiet --unit=kubelet --slice=kubelet.slice /usr/local/bin/kubelet --config=$config
}

# id TWO-DIGITS: a container's id.
id() { printf "$1%.0s" 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32; }

# container NAME: its scope.
container() { echo "cri-containerd-$(basename /var/log/containers/*_"$1"-*.log .log | sed 's/.*-//').scope"; }

# capture NAME [COMMANDS]: the archive, and what the commands whose names the
# pattern matches say here, to be compared with what they say of the archive.
capture() {
	mkdir -p "/out/$1"
	./kqos collect -O "/out/$1.tar.gz" >"$log" 2>&1 || fail "collect:"
	grep -E "^(${2:-.*}) " commands >$tmp/commands
	while read -r name args; do
		code=0
		# shellcheck disable=SC2086 # args are words
		timeout 300 ./kqos $args -o json >"/out/$1/$name.json" 2>"/out/$1/$name.err" || code=$?
		echo $code >"/out/$1/$name.code"
	done <$tmp/commands
	echo "captured $1"
}
