# A kernel without one controller: doctor and apply name it, and the rest is done.
. ./lib.sh
kqos 1 doctor --only controllers -o wide
says "fail.*pids"
kqos 2 apply pods
says "controller pids is not available\|pids"
cat "$log"
holds $pod_b memory.max 419430400 memory/memory.limit_in_bytes 419430400
kqos 0 apply pods --remove
gone $kubepods
