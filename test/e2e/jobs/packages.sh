# The packages: installed, started by systemd, installed again, removed.
. ./lib.sh
package() { # install|remove: by the format's own tool, which Debian's rpm wants to be told
	case $format-$1 in
	deb-install) dpkg -i kqos.deb ;;
	deb-remove) dpkg --remove kqos ;;
	rpm-install) rpm --force-debian --nodeps -U --replacepkgs kqos.rpm ;;
	rpm-remove) rpm --force-debian -e kqos ;;
	esac >"$log" 2>&1 </dev/null || fail "$format $1 ended with $?:"
}
named() { find / -xdev -name '*kqos*' -not -path "$PWD/*" | sort; }
restarted() { systemctl is-active --quiet kqos.service && [ "$(systemctl show -P MainPID kqos.service)" != "$first" ]; }
before=$(named)
for format in deb rpm; do
	package install
	is "what kubectl finds" "$(kubectl-kqos version -o name)" "$(/usr/bin/kqos version -o name)"
	for unit in kqos.service kqos-once.timer; do
		is "$unit" "$(systemctl is-enabled $unit || true) $(systemctl is-active $unit || true)" "disabled inactive"
	done
	systemd-analyze verify kqos.service kqos-once.service kqos-once.timer >"$log" 2>&1 || fail "systemd-analyze verify:"
	is "what systemd-analyze verify says" "$(grep kqos "$log" || true)" ""

	cp -r pods kubelet.yaml /etc/kqos
	# An emulated machine may take longer than systemd's 90 s.
	mkdir -p /run/systemd/system/kqos.service.d
	printf '[Service]\nTimeoutStartSec=10min\n' >/run/systemd/system/kqos.service.d/slow.conf
	systemctl daemon-reload
	systemctl enable --now kqos.service || { journalctl -n 40 -u kqos.service >"$log" 2>&1; fail "kqos.service does not start:"; }
	holds $pod_b memory.max 419430400 memory/memory.limit_in_bytes 419430400

	# Installed over itself, as an upgrade is: what runs is started again, what was
	# configured stays.
	first=$(systemctl show -P MainPID kqos.service)
	package install
	eventually restarted
	cmp kubelet.yaml /etc/kqos/kubelet.yaml >"$log" 2>&1 || fail "the configuration was replaced:"
	systemctl enable --now kqos-once.timer

	# Removed while it runs: the cgroups and the configuration stay, no unit does.
	package remove
	journalctl -n 40 -u kqos.service -u kqos-once.service >"$log" 2>&1
	is "units left" "$(systemctl list-units --no-legend --plain 'kqos*'; systemctl list-unit-files --no-legend 'kqos*')" ""
	is "processes left" "$(pgrep -x kqos || true)" ""
	there "$pod_b"
	kept=/etc/kqos/kubelet.yaml
	[ $format = deb ] || kept=$kept.rpmsave
	cmp kubelet.yaml $kept >"$log" 2>&1 || fail "the configuration is gone:"

	rm -r /etc/kqos/pods/* /run/systemd/system/kqos.service.d
	if [ $format = deb ]; then
		dpkg --purge kqos >"$log" 2>&1 || fail "dpkg --purge ended with $?:"
	else
		rm $kept
		rmdir /etc/kqos/pods /etc/kqos
	fi
	is "what is left of kqos" "$(named)" "$before"
	kqos 0 apply pods --remove
	gone $kubepods
done
