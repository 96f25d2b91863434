package machine

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/disk"

	"github.com/kqos/kqos/internal/input"
)

// HostLimits are capacities of a host that its topology does not tell; nil where
// the host does not tell them either.
type HostLimits struct {
	// PIDs is how many tasks the kernel runs at most.
	PIDs *int64
	// Storage is the size in bytes of the file system of the kubelet's folder.
	Storage *int64
}

// ReadHostLimits reads the limits of the host whose root is mounted at root. A
// captured folder has no file system of its own, so its Storage is unknown.
func ReadHostLimits(ctx context.Context, root string) HostLimits {
	return HostLimits{PIDs: maxPIDs(root), Storage: kubeletStorage(ctx, root)}
}

// maxPIDs is the lower of the kernel's two limits on tasks.
//
// kubelet v1.37: pkg/kubelet/stats/pidlimit/pidlimit_linux.go Stats.
func maxPIDs(root string) *int64 {
	var lowest *int64
	for _, name := range []string{"pid_max", "threads-max"} {
		text, err := input.File(filepath.Join(root, "proc/sys/kernel", name), input.Config)
		if err != nil {
			continue
		}
		limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && (lowest == nil || limit < *lowest) {
			lowest = &limit
		}
	}
	return lowest
}

// kubeletStorage asks the file system that holds the kubelet's folder, or would.
// Only a live host has proc/self.
//
// kubelet v1.37: pkg/kubelet/cadvisor/cadvisor_linux.go RootFsInfo.
func kubeletStorage(ctx context.Context, root string) *int64 {
	if _, err := os.Stat(filepath.Join(root, "proc/self")); err != nil {
		return nil
	}
	for _, folder := range []string{"var/lib/kubelet", "var/lib", "var", ""} {
		usage, err := disk.UsageWithContext(ctx, filepath.Join(root, folder))
		if err == nil && usage.Total <= 1<<63-1 {
			total := int64(usage.Total)
			return &total
		}
	}
	return nil
}
