# The machine as the kernel, and as kqos, tells it.
set -eu
./kqos version
cat /sys/devices/system/node/online
systemctl --version | head -1
stat -fc %T /sys/fs/cgroup
