# The command lines of deploy/kubernetes, run as their pods run them: from an image of
# nothing but the binary, with the host at /host, in a cgroup namespace of its own,
# and with the capabilities of the overlay alone.
. ./node.sh
settle
./podsapi /var/lib/kubelet/pods-api/pods-api.sock shop 2>$tmp/podsapi &
image=$tmp/image
mkdir -p $image/host $image/proc $image/sys/fs/cgroup $image/run/systemd $image/run/dbus $image/tmp
cp kqos $image/kqos
loader="/host/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 --library-path /host/lib/x86_64-linux-gnu:/host/usr/lib/x86_64-linux-gnu"

# as OVERLAY CAPABILITIES COMMAND…: in the pod of that overlay.
as() {
	overlay=$1
	capabilities=$2
	shift 2
	exec unshare --mount --cgroup sh -euc '
		image=$1 overlay=$2 capabilities=$3 loader=$4
		shift 4
		mount --bind $image $image
		mount --rbind / $image/host
		mount -t proc proc $image/proc
		findmnt -rno TARGET | grep "^$image/host" | while read -r at; do mount -o remount,bind,ro "$at"; done
		case $overlay in
		observe) [ ! -e /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 cgroup2 $image/sys/fs/cgroup ;;
		reconcile) for at in sys/fs/cgroup run/systemd run/dbus; do mount --rbind /$at $image/$at; done ;;
		esac
		mount -o remount,bind,ro $image
		exec chroot $image $loader /host/usr/bin/setpriv --bounding-set "$capabilities" --inh-caps -all --no-new-privs "$@"
	' pod "$image" "$overlay" "$capabilities" "$loader" "$@"
}

# args OVERLAY: the command line that its DaemonSet has.
args() { sed -n 's/^ *- \(--.*\|inspect\|apply\)$/\1/p' deploy/kubernetes/overlays/$1/daemonset.yaml; }

metrics() { bash -c 'exec 3<>/dev/tcp/127.0.0.1/9099 && printf "GET $1 HTTP/1.0\r\n\r\n" >&3 && cat <&3' sh "$1" 2>$tmp/net; }

# reads METRIC VALUE
reads() { metrics /metrics | tr -d '\r' | grep -xF "$1 $2" >$tmp/metric; }

ends() { # PID LOG: on SIGTERM, by itself or by the signal
	kill -TERM "$1"
	code=0
	wait "$1" || code=$?
	cp "$2" "$log"
	[ $code = 0 ] || [ $code = 143 ] || fail "it ended with $code"
}

database=$kubepods/kubepods-pod11111111_0000_4000_8000_000000000001.slice
file=$(control $database cpu.weight cpu/cpu.shares)
wanted=$(cat "$file")

# Nothing on the host can be written, and without the host's mounts kqos says what it sees.
if (as observe -all $loader /host/usr/bin/touch /host/tmp/written) 2>"$log"; then fail "the host can be written"; fi
says 'Read-only'
if [ $version = 2 ]; then
	(as observe -all /kqos inspect --sample 0) >"$log" 2>&1 || true
	says 'only a container is seen, not its host: the cgroups at'
fi

# shellcheck disable=SC2046 # args are words
(as observe -all /kqos $(args observe)) >$tmp/observe 2>&1 &
observe=$!
trap 'cat $tmp/observe' EXIT
eventually reads kqos_inspect_sees_host 1
eventually reads 'kqos_inspect_drifted_files{level="pod"}' 0
metrics /healthz | grep -qx ok || fail "/healthz does not answer"
echo 77 >"$file"
systemctl start kubepods-besteffort-pod99999999_0000_4000_8000_000000000002.slice
eventually reads 'kqos_inspect_drifted_files{level="pod"}' 1
eventually reads kqos_inspect_leaked_cgroups 1
systemctl stop 'kubepods*pod99999999*.slice'
half=$(($(wc -c </var/lib/kubelet/cpu_manager_state) / 2))
cp /var/lib/kubelet/cpu_manager_state $tmp
head -c $half $tmp/cpu_manager_state >/var/lib/kubelet/cpu_manager_state
eventually reads 'kqos_inspect_invalid_state_files{file="cpu_manager_state"}' 1
cp $tmp/cpu_manager_state /var/lib/kubelet
trap - EXIT
ends $observe $tmp/observe
says "drift: .*$(basename "$file") reads"
is "what only was looked at" "$(cat "$file")" 77

# shellcheck disable=SC2046 # args are words
(as reconcile -all,+sys_admin /kqos $(args reconcile)) >$tmp/reconcile 2>&1 &
reconcile=$!
trap 'cat $tmp/reconcile' EXIT
mended() { grep -qsx "$wanted" "$file"; }
eventually mended
eventually reads kqos_drift_changes 0
trap - EXIT
ends $reconcile $tmp/reconcile
says "wrote.*$(basename "$file")"
