# What the jobs share: kqos with the node's flags, the names that the kubelet's
# driver $DRIVER gives cgroups, and assertions that end the job.
set -eu
mount=/sys/fs/cgroup
version=1
[ "$(stat -fc %T $mount)" != cgroup2fs ] || version=2
log=$(mktemp)
tmp=$(mktemp -d)
: "${config:=kubelet.yaml}"

case $DRIVER in
systemd)
	kubepods=/kubepods.slice
	burstable=$kubepods/kubepods-burstable.slice
	pod_a=$kubepods/kubepods-pod00000000_0000_4000_8000_00000000000a.slice
	pod_b=$burstable/kubepods-burstable-pod00000000_0000_4000_8000_00000000000b.slice
	pod_c=$kubepods/kubepods-besteffort.slice/kubepods-besteffort-pod00000000_0000_4000_8000_00000000000c.slice
	;;
cgroupfs)
	kubepods=/kubepods
	burstable=$kubepods/burstable
	pod_a=$kubepods/pod00000000-0000-4000-8000-00000000000a
	pod_b=$burstable/pod00000000-0000-4000-8000-00000000000b
	pod_c=$kubepods/besteffort/pod00000000-0000-4000-8000-00000000000c
	;;
esac

fail() {
	echo "FAILED: $*"
	cat "$log"
	exit 1
}

# kqos CODE COMMAND…: it ends with this exit code; what it prints is in $log.
kqos() {
	want=$1
	shift
	code=0
	timeout 300 ./kqos "$@" --driver "$DRIVER" --config "$config" >"$log" 2>&1 || code=$?
	[ $code = "$want" ] || fail "kqos $* ended with $code, not $want:"
}

says() { grep -q -- "$1" "$log" || fail "no \"$1\" in:"; }

is() { [ "$2" = "$3" ] || fail "$1 is \"$2\", not \"$3\""; }

# control CGROUP V2-FILE V1-CONTROLLER/FILE: the control file of this host.
control() {
	if [ $version = 2 ]; then echo "$mount$1/$2"; else echo "$mount/${3%%/*}$1/${3#*/}"; fi
}

# holds CGROUP V2-FILE VALUE V1-CONTROLLER/FILE VALUE
holds() {
	file=$(control "$1" "$2" "$4")
	if [ $version = 2 ]; then want=$3; else want=$5; fi
	is "$file" "$(cat "$file")" "$want"
}

# weight SHARES: the v2 weight.
#
# kubelet v1.37: cm/cgroup_manager_linux.go getCPUWeight
weight() { echo "$(((($1 - 2) * 9999) / 262142 + 1))"; }

# limits prints every control file below a cgroup that the kubelet may set.
limits() {
	find $mount -path "*$1*" \( -name cpu.weight -o -name cpu.shares -o -name cpu.max -o -name cpu.cfs_quota_us \
		-o -name memory.max -o -name memory.limit_in_bytes -o -name memory.min -o -name memory.low \
		-o -name memory.high -o -name pids.max -o -name '*.limit_in_bytes' -o -name 'hugetlb.*.max' \) |
		sort -u | xargs grep -H .
}

gone() { [ -z "$(find $mount -type d -path "*$1*")" ] || fail "$1 is still there: $(find $mount -type d -path "*$1*")"; }

there() { [ -d "$(dirname "$(control "$1" cgroup.procs memory/cgroup.procs)")" ] || fail "$1 is gone"; }

# put PID CGROUP: a process into a cgroup below, as a CRI runtime does.
put() {
	if [ "$DRIVER" = systemd ]; then
		busctl call org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager StartTransientUnit \
			'ssa(sv)a(sa(sv))' "e2e-$1.scope" fail 3 PIDs au 1 "$1" Slice s "$(basename "$2")" Delegate b true 0 >"$log"
		slice=$(basename "$2")
		eventually grep -q "$slice" "/proc/$1/cgroup"
		return
	fi
	for c in memory cpu pids; do
		folder=$(dirname "$(control "$2/container" x $c/x)")
		mkdir -p "$folder"
		echo "$1" >"$folder/cgroup.procs"
	done
}

# eventually COMMAND…: within ten minutes, which only what never comes takes.
eventually() {
	deadline=$(($(cut -d. -f1 /proc/uptime) + 600))
	until "$@"; do
		[ "$(cut -d. -f1 /proc/uptime)" -lt $deadline ] || fail "not in time: $*"
		sleep 0.2
	done
}
