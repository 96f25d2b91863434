# A kernel without one controller: doctor and apply name it, and the rest is done.
. ./lib.sh
kqos 0 doctor --only controllers
says "controllers *warn .* no pids controller"
kqos 0 apply pods -v
says "no controller pids"
holds $pod_b memory.max 419430400 memory/memory.limit_in_bytes 419430400
kqos 0 apply pods --remove
gone $kubepods
