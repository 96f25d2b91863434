# What topology and allocatable detect is what lscpu and the kernel tell.
. ./lib.sh
each() { # TEMPLATE: of the machine that kqos detects
	./kqos topology -o "go-template=$1" >"$log"
	cat "$log"
}
lscpu -p=CPU,CORE,SOCKET,NODE | grep -v '^#' | sort -n >$tmp/lscpu
each '{{range .cpus}}{{.id}},{{.core}},{{.socket}},{{.numa}}{{"\n"}}{{end}}' | sort -n | cut -d, -f1,3,4 >$tmp/have
cut -d, -f1,3,4 $tmp/lscpu | diff - $tmp/have || fail "CPUs differ from lscpu's"
is cores "$(each '{{range .cpus}}{{.numa}} {{.socket}} {{.core}}{{"\n"}}{{end}}' | sort -u | wc -l)" "$(cut -d, -f2 $tmp/lscpu | sort -u | wc -l)"

# hwloc sees the same, and kqos reads what hwloc writes.
lstopo-no-graphics --of xml >$tmp/hwloc.xml
all='{{range .cpus}}cpu {{.id}} {{.core}} {{.socket}} {{.numa}}{{"\n"}}{{end}}{{range .numa}}node {{.id}} {{.memory}} {{.distances}}{{"\n"}}{{end}}'
is "what lstopo tells" "$(./kqos topology --topology $tmp/hwloc.xml -o "go-template=$all")" "$(each "$all")"

for node in /sys/devices/system/node/node[0-9]*; do
	n=${node##*/node}
	is "memory of node $n" "$(each "{{range .numa}}{{if eq (print .id) \"$n\"}}{{.memory}}{{end}}{{end}}")" \
		"$(awk '/MemTotal/ {printf "%.0f", $4 * 1024}' "$node/meminfo")"
	is "distances of node $n" "$(each "{{range .numa}}{{if eq (print .id) \"$n\"}}{{range .distances}}{{.}} {{end}}{{end}}{{end}}")" \
		"$(cat "$node/distance") "
	is "huge pages of node $n" "$(each "{{range .numa}}{{if eq (print .id) \"$n\"}}{{index .hugepages \"2Mi\"}}{{end}}{{end}}")" \
		"$(cat "$node/hugepages/hugepages-2048kB/nr_hugepages")"
done
bytes=$(($(awk '/MemTotal/ {print $2}' /proc/meminfo) * 1024))
is memory "$(each '{{.memory}}')" $bytes

kqos 0 allocatable -o 'jsonpath={.capacity.cpu} {.capacity.memory}'
is capacity "$(tail -1 "$log")" "$(nproc) $((bytes / 1024))Ki"
pages=$(cat /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages)
kqos 0 allocatable -o 'jsonpath={.capacity.hugepages-2Mi}'
is "capacity of huge pages" "$(tail -1 "$log")" "$([ "$pages" = 0 ] && echo 0 || echo $((pages * 2))Mi)"
