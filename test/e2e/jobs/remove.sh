# --prune and --remove take what is kqos's own and empty, and nothing else: a
# process below a marked pod keeps it and all above it.
. ./lib.sh
kqos 0 apply pods
sleep 1000 &
process=$!
put $process $pod_b
mkdir $tmp/few
cp pods/guaranteed.yaml $tmp/few

kqos 2 apply $tmp/few --prune --adopt
says "process $process\|not made by kqos"
there $pod_b
gone pod00000000.0000.4000.8000.00000000000c
kqos 2 apply $tmp/few --remove --adopt
gone pod00000000.0000.4000.8000.00000000000a
there $pod_b
kill -0 $process || fail "the process was killed"
holds $pod_b memory.max 419430400 memory/memory.limit_in_bytes 419430400

kill $process
wait $process || true
if [ "$DRIVER" = cgroupfs ]; then # systemd takes its scope away itself
	kqos 2 apply $tmp/few --prune
	says "not made by kqos"
	find $mount -depth -type d -path "*/$(basename $pod_b)/container" -exec rmdir {} +
fi
empty() { ! grep -qs . $(find $mount -path "*/$(basename $pod_b)*" -name cgroup.procs) /dev/null; }
eventually empty
kqos 0 apply $tmp/few --prune
gone pod00000000.0000.4000.8000.00000000000b
there $pod_a
kqos 0 apply $tmp/few --remove
gone $kubepods
