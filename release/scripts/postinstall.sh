#!/bin/sh
# systemd learns of the units and starts none, which is the administrator's to do.
# What runs already goes on with the new binary.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	systemctl try-restart kqos.service || true
fi
