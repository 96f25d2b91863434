#!/bin/sh
# Before a removal, which dpkg calls remove and rpm 0, and not before an upgrade.
# The cgroups stay: pods may live in them.
set -e
case "${1:-}" in
remove | 0)
	if command -v systemctl >/dev/null; then
		systemctl --no-reload disable kqos.service kqos-once.timer >/dev/null 2>&1 || true
		if [ -d /run/systemd/system ]; then
			systemctl stop kqos.service kqos-once.timer kqos-once.service || true
		fi
	fi
	;;
esac
