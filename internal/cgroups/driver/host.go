package driver

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/kqos/kqos/internal/input"
)

// The cgroup drivers by the names that the kubelet gives them.
const (
	Cgroupfs = "cgroupfs"
	Systemd  = "systemd"
)

// HostVersion tells which cgroup version the host below root runs: 2 for the
// unified hierarchy, 1 for anything else that is mounted (hybrid too), 0 where
// no cgroup mount is seen.
func HostVersion(root string) int {
	mount := filepath.Join(root, "sys/fs/cgroup")
	if _, err := os.Stat(filepath.Join(mount, "cgroup.controllers")); err == nil {
		return 2
	}
	for _, controller := range []string{"memory", "cpu", "cpu,cpuacct"} {
		if info, err := os.Stat(filepath.Join(mount, controller)); err == nil && info.IsDir() {
			return 1
		}
	}
	return 0
}

// HostDriver tells which driver suits the host below root: systemd where it
// runs as PID 1, else cgroupfs.
func HostDriver(root string) string {
	comm, err := input.File(filepath.Join(root, "proc/1/comm"), input.Config)
	if err == nil && strings.TrimSpace(string(comm)) == "systemd" {
		return Systemd
	}
	if info, err := os.Lstat(filepath.Join(root, "run/systemd/system")); err == nil && info.IsDir() {
		return Systemd
	}
	return Cgroupfs
}
