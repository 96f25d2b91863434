# --watch mends a drift within seconds, ends with 0 on SIGTERM, and leaves a
# file to another who keeps changing it back.
. ./lib.sh
watchlog=$(mktemp)
./kqos apply pods --watch --interval 500ms --driver "$DRIVER" --config $config 2>"$watchlog" >"$log" &
watch=$!
trap 'cat "$watchlog"' EXIT
limit=$(control $pod_b memory.max memory/memory.limit_in_bytes)
mended() { grep -qsx 419430400 "$limit"; }
eventually mended
shares=$(control $pod_b cpu.weight cpu/cpu.shares)
eventually grep -qxE "307|$(weight 307)" "$shares"

echo 524288000 >"$limit"
eventually mended

# Once each second, until kqos gives up, and on for a while.
flips=0
until grep -q contended "$watchlog"; do
	[ $flips -lt 120 ] || fail "nobody is told that $shares is contended"
	echo 77 >"$shares"
	sleep 1
	flips=$((flips + 1))
done
for _ in 1 2 3 4 5; do
	echo 77 >"$shares"
	sleep 1
done
is "$shares, which another writes" "$(cat "$shares")" 77
is "rewrites of it, once made and thrice mended" "$(grep -c "wrote.*$(basename "$(dirname "$shares")").*file=.*$(basename "$shares")" "$watchlog")" 4

echo 524288000 >"$limit"
eventually mended
kill -TERM $watch
code=0
wait $watch || code=$?
is "exit code after SIGTERM" $code 0
trap - EXIT
