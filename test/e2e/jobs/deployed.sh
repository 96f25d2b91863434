# The files of deploy/systemd and deploy/cron, installed as their comments say.
. ./lib.sh
mkdir -p /usr/local/bin /etc/kqos
cp kqos /usr/local/bin
cp -r pods kubelet.yaml /etc/kqos
cp deploy/systemd/* /etc/systemd/system
systemd-analyze verify /etc/systemd/system/kqos*.service /etc/systemd/system/kqos*.timer >"$log" 2>&1 || fail "systemd-analyze verify:"
is "what systemd-analyze verify says" "$(grep kqos "$log" || true)" ""
# An emulated machine may take longer than systemd's 90 s.
mkdir -p /run/systemd/system/kqos.service.d
printf '[Service]\nTimeoutStartSec=10min\n' >/run/systemd/system/kqos.service.d/slow.conf
systemctl daemon-reload
limit=$(control $pod_b memory.max memory/memory.limit_in_bytes)
mended() { grep -qsx 419430400 "$limit"; }

# For good: ready once the tree stands, and it mends.
systemctl start kqos.service || { journalctl -n 40 -u kqos.service >"$log" 2>&1; fail "kqos.service does not start:"; }
holds $pod_b memory.max 419430400 memory/memory.limit_in_bytes 419430400
echo 524288000 >"$limit"
eventually mended
systemctl reload kqos.service
systemctl show -P StatusText kqos.service >"$log"
says .
systemctl stop kqos.service
is "the end of kqos.service" "$(systemctl show -P Result kqos.service)" success
kqos 0 apply pods --remove

# Each minute: the timer's first run is due at once, a machine being up for longer.
systemctl start kqos-once.timer
eventually mended
idle() { [ "$(systemctl show -P ActiveState kqos-once.service)" = inactive ]; }
eventually idle
is "the end of kqos-once.service" "$(systemctl show -P Result kqos-once.service)" success
systemctl stop kqos-once.timer
for _ in 1 2 3 4 5; do # stopped at some moment of its start
	systemctl start --no-block kqos-once.service
	systemctl stop kqos-once.service
	is "the end of kqos-once.service when it is stopped" "$(systemctl show -P Result kqos-once.service)" success
done
kqos 0 apply pods --remove

# cron, twice. It wakes at each full minute, which the clock is set close to.
cp deploy/cron/kqos /etc/cron.d
full_minute() {
	systemctl stop cron.service
	date -s "$(date '+%F %H:%M'):57" >"$log"
	systemctl start cron.service
}
full_minute
eventually mended
echo 524288000 >"$limit"
full_minute
eventually mended
systemctl stop cron.service
rm -f /etc/cron.d/kqos /etc/systemd/system/kqos*
kqos 0 apply pods --remove
gone $kubepods
