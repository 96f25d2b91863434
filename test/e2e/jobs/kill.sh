# Killed at any moment, the next apply finishes, and all that the killed ones
# made is known as kqos's own.
. ./lib.sh
mkdir $tmp/many
for n in 10 11 12 13 14 15 16 17 18 19 20 21; do
	sed "s/00000000000b/0000000000$n/; s/name: burstable/name: b$n/" pods/burstable.yaml >$tmp/many/$n.yaml
done
cut=0
tier=$(dirname "$(control $burstable x memory/x)")
count() {
	set -- "$tier"/*pod00000000*
	if [ -e "$1" ]; then pods=$#; else pods=0; fi
}
for more in 0 0 1 2 3; do
	count
	until=$((pods + more))
	./kqos apply $tmp/many --driver "$DRIVER" --config $config >"$log" 2>&1 &
	running=$!
	while count && [ $pods -le $until ] && kill -0 $running 2>"$log.kill"; do :; done
	kill -9 $running 2>"$log.kill" || true
	code=0
	wait $running || code=$?
	[ $code != 137 ] || cut=$((cut + 1))
done
count
echo "killed $cut of 5 in time, $pods pod folders stand"
[ $cut -gt 0 ] || fail "no kqos was killed in time"
kqos 0 apply $tmp/many
kqos 0 diff $tmp/many
kqos 0 apply $tmp/many --remove
gone $kubepods
