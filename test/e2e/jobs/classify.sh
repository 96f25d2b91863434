# classify tells each pod's values as the kernel gives them back after apply.
. ./lib.sh
kqos 0 apply pods
for pod in guaranteed burstable besteffort; do
	kqos 0 classify pods/$pod.yaml -o "go-template={{range .items}}{{with .cgroup.$DRIVER}}{{\$p := .path}}{{range \$f, \$v := .v$version}}{{\$p}} {{\$f}} {{\$v}}{{\"\\n\"}}{{end}}{{end}}{{end}}"
	grep '^/kubepods' "$log" >$tmp/values || fail "no values of $pod:"
	while read -r path file value; do
		[ $version = 2 ] && at=$mount$path/$file || at=$mount/${file%%/*}$path/${file#*/}
		is "$at" "$(cat "$at")" "$value"
	done <$tmp/values
done
