package collect

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
)

// patterns are the files that are packed as they are. None of them holds more
// than numbers, names of hardware, and names of pods and containers.
func patterns() []string {
	return []string{
		// The machine: what the topology is read from.
		"sys/devices/system/cpu/*",
		"sys/devices/system/cpu/smt/*",
		"sys/devices/system/cpu/cpu[0-9]*/online",
		"sys/devices/system/cpu/cpu[0-9]*/cpu_capacity",
		"sys/devices/system/cpu/cpu[0-9]*/node[0-9]*",
		"sys/devices/system/cpu/cpu[0-9]*/topology/*",
		"sys/devices/system/cpu/cpu[0-9]*/cache/index[0-9]*/*",
		"sys/devices/system/node/*",
		"sys/devices/system/node/node[0-9]*/cpulist",
		"sys/devices/system/node/node[0-9]*/cpumap",
		"sys/devices/system/node/node[0-9]*/cpu[0-9]*",
		"sys/devices/system/node/node[0-9]*/distance",
		"sys/devices/system/node/node[0-9]*/meminfo",
		"sys/devices/system/node/node[0-9]*/hugepages/hugepages-*/*",
		"sys/devices/cpu_atom/cpus",
		"sys/devices/cpu_core/cpus",
		"sys/kernel/mm/hugepages/hugepages-*/*",
		"sys/bus/pci/devices/*/class",
		"sys/bus/pci/devices/*/vendor",
		"sys/bus/pci/devices/*/device",
		"sys/bus/pci/devices/*/numa_node",
		"sys/bus/pci/devices/*/sriov_numvfs",
		"sys/bus/pci/devices/*/sriov_totalvfs",
		"sys/bus/pci/devices/*/physfn",
		"sys/bus/pci/devices/*/net/*",
		"sys/bus/pci/devices/*/nvme/*",
		"sys/bus/pci/devices/*/infiniband/*",
		"sys/bus/pci/devices/*/drm/*",
		"proc/cpuinfo",
		"proc/meminfo",
		// The kernel as doctor judges it.
		"proc/swaps",
		"proc/uptime",
		"proc/1/comm",
		"proc/pressure/*",
		"proc/sys/kernel/osrelease",
		"proc/sys/kernel/pid_max",
		"proc/sys/kernel/threads-max",
		"proc/sys/kernel/panic",
		"proc/sys/kernel/panic_on_oops",
		"proc/sys/vm/overcommit_memory",
		"proc/sys/vm/panic_on_oom",
		"etc/os-release",
		"usr/lib/os-release",
		"run/systemd/system",
		// The kubelet's state; its device file is cut down, see reduce.
		"var/lib/kubelet/cpu_manager_state",
		"var/lib/kubelet/memory_manager_state",
	}
}

// names are patterns of which the name alone is packed: folders become empty
// ones, files and links empty files.
func names() []string {
	return []string{
		"var/lib/kubelet/pods/*",
		"var/log/pods/*",
		"var/log/containers/*",
		"var/lib/kubelet/plugins/*",
		"usr/lib/systemd/libsystemd-shared-*.so",
		"usr/lib/*/systemd/libsystemd-shared-*.so",
		"usr/lib64/systemd/libsystemd-shared-*.so",
		"lib/systemd/libsystemd-shared-*.so",
	}
}

// controlFile tells which files of a cgroup are packed: those of the
// controllers that the kubelet uses, and the processes' ids.
func controlFile(name string) bool {
	controller, file, _ := strings.Cut(name, ".")
	switch controller {
	case "cpu", "cpuacct", "cpuset", "memory", "pids", "hugetlb", "io":
		return file != "numa_stat" && file != "kmem.slabinfo"
	case "cgroup":
		return file != "threads" && file != "event_control"
	}
	return false
}

// addCgroups adds every cgroup of every hierarchy with its control files.
func (c *Collection) addCgroups(ctx context.Context) error {
	top := filepath.Join(c.root, "sys/fs/cgroup")
	return filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if failed := ctx.Err(); failed != nil {
			return failed
		}
		if err != nil {
			return nil //nolint:nilerr // a folder that can't be listed has vanished, or is noted by what is missing
		}
		name, err := filepath.Rel(c.root, file)
		if err != nil {
			return nil //nolint:nilerr // all lie below the root
		}
		if unit := unitOf(filepath.ToSlash(name)); d.IsDir() && unit != "" {
			c.units = append(c.units, unit)
		}
		if d.IsDir() || d.Type().IsRegular() && controlFile(d.Name()) {
			c.add(filepath.ToSlash(name))
		}
		return nil
	})
}
