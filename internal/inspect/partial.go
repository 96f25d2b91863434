package inspect

import (
	"os"
	"path/filepath"
	"strings"
)

// Partial says why what is seen below root is not the host but a container on
// it; empty where it is the host, or where nothing tells.
//
// Linux: cgroup.type stands in every cgroup of version 2 but the root
// (Documentation/admin-guide/cgroup-v2.rst), and a cgroup namespace shows a
// cgroup of its own as the root. Process 2 of the first PID namespace is
// kthreadd.
func (h *Hierarchy) Partial(root string) string {
	var seen []string
	if _, err := h.Read("/", "cgroup.type"); err == nil {
		seen = append(seen, "the cgroups at "+h.mounts[""]+" begin below the host's root: mount the host's /sys/fs/cgroup there (hostPath), or join its cgroup namespace")
	}
	// A captured root has no link to the process that reads it.
	if _, err := os.Lstat(filepath.Join(root, "proc/self")); err == nil {
		if name, err := readFile(filepath.Join(root, "proc/2/comm")); err != nil || strings.TrimSpace(string(name)) != "kthreadd" {
			seen = append(seen, "the processes at "+filepath.Join(root, "proc")+" are not the host's: mount the host's /proc there, or join its PID namespace (hostPID)")
		}
	}
	return strings.Join(seen, "; ")
}
