package inspect

import (
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/kqos/kqos/internal/cgroups"
)

// Whole tells whether a cgroup stands in every hierarchy that the kubelet looks
// for it in: to the kubelet, one that lacks a folder does not exist.
func (h *Hierarchy) Whole(path string) bool {
	for controller, mount := range h.mounts {
		if h.version == 1 && !slices.Contains(cgroups.Hierarchies(), controller) {
			continue
		}
		if info, err := os.Lstat(mount + path); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// Controllers are those of the v1 hierarchies, by name; on v2 there are none,
// since each cgroup has its own.
func (h *Hierarchy) Controllers() []string {
	if h.version == 2 {
		return nil
	}
	return slices.Sorted(maps.Keys(h.mounts))
}

// Folder is where a v1 controller is mounted, below the mount of all, such as
// cpu,cpuacct; empty where it is not.
func (h *Hierarchy) Folder(controller string) string {
	mount, mounted := h.mounts[controller]
	if !mounted {
		return ""
	}
	return filepath.Base(mount)
}
