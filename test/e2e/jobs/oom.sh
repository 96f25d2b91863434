# 300 MiB in use and a limit of 200 MiB kills nobody, but with --allow-oom.
. ./lib.sh
kqos 0 apply pods
perl -e '$x .= "a" x 1048576 for 1..300; sleep 1000' &
process=$!
# The memory counts where it is first touched, so the process is put there at once.
put $process $pod_b
used=$(control $pod_b memory.current memory/memory.usage_in_bytes)
uses() { [ "$(cat "$used")" -gt 314572800 ]; }
eventually uses
mkdir $tmp/less
sed 's/400Mi/200Mi/' pods/burstable.yaml >$tmp/less/burstable.yaml
kills() {
	if [ $version = 2 ]; then sed -n 's/^oom_kill //p' "$mount$pod_b/memory.events"; else
		cat $mount/memory$pod_b/memory.oom_control $mount/memory$pod_b/*/memory.oom_control | awk '/^oom_kill / {n += $2} END {print n}'; fi
}
for flags in "" --squeeze "--adopt --prune --create-reserved --pods-complete --settle 0s"; do
	# shellcheck disable=SC2086 # flags are words
	kqos 2 apply $tmp/less/burstable.yaml $flags
	says "in use\|reclaim\|usage"
	is "oom_kill with ${flags:-no flag}" "$(kills)" 0
	kill -0 $process || fail "the process is gone"
	holds $pod_b memory.max 419430400 memory/memory.limit_in_bytes 419430400
	[ $version = 1 ] || is memory.high "$(cat $mount$pod_b/memory.high)" max
done
kqos 2 apply $tmp/less/burstable.yaml --remove
kill -0 $process || fail "--remove killed the process"

if [ $version = 2 ]; then
	kqos 0 apply $tmp/less/burstable.yaml --allow-oom
	holds $pod_b memory.max 209715200 - -
	killed() { [ "$(kills)" = 1 ]; }
	eventually killed
else # the v1 kernel refuses the limit by itself
	kqos 2 apply $tmp/less/burstable.yaml --allow-oom
	is "oom_kill" "$(kills)" 0
	kill $process
fi
wait $process || true
freed() { [ "$(cat "$used")" -lt 209715200 ]; }
eventually freed
kqos 0 apply $tmp/less/burstable.yaml
holds $pod_b memory.max 209715200 memory/memory.limit_in_bytes 209715200
