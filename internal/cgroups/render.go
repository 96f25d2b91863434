package cgroups

// Control is one control file or systemd property with its value.
type Control struct {
	Name string
	Value[string]
}

// Rendered are the files of a cgroup in the order in which the driver writes
// them, and the properties of its systemd unit.
type Rendered struct {
	Files, Properties []Control
}

// Platform is what decides how settings are written.
type Platform struct {
	// Driver is Systemd or anything else for cgroupfs.
	Driver string
	// Version is 1 or 2.
	Version int
	// PageSizes of the node as cgroup files name them. The kubelet writes 0 for
	// each of them that settings do not name.
	PageSizes []string
}

// Render gives what the kubelet, or for containers the runtime, writes.
func (s Settings) Render(p Platform) Rendered {
	t := tableOf(p)
	if t.adjust != nil {
		s = t.adjust(s)
	}
	return Rendered{Files: t.files.render(&s, p), Properties: t.properties.render(&s, p)}
}

// row yields the controls that one kind of setting gives.
type row func(*Settings, Platform) []Control

type rows []row

func (r rows) render(s *Settings, p Platform) []Control {
	var controls []Control
	for _, row := range r {
		controls = append(controls, row(s, p)...)
	}
	return controls
}

// table is how the settings of one driver and version are written.
type table struct {
	// adjust changes settings before they are written.
	adjust func(Settings) Settings
	// files in write order.
	files, properties rows
}

// tableOf is the only place where drivers and versions differ.
func tableOf(p Platform) table {
	systemd, v1 := p.Driver == Systemd, p.Version == 1
	switch {
	case systemd && v1:
		return table{adjust: roundQuota, files: filesV1(), properties: propertiesV1()}
	case systemd:
		return table{adjust: roundQuota, files: filesV2(), properties: propertiesV2()}
	case v1:
		return table{files: filesV1()}
	default:
		return table{files: filesV2()}
	}
}

// filesV1 keeps within each hierarchy the order of the runtime's library.
//
// opencontainers/cgroups v0.1.0: fs/{cpuset,memory,cpu,pids,hugetlb}.go Set.
func filesV1() rows {
	return rows{
		cpus("cpuset/cpuset.cpus"), mems("cpuset/cpuset.mems"),
		memory("memory/memory.limit_in_bytes", plain),
		memorySwap("memory/memory.memsw.limit_in_bytes"),
		shares("cpu/cpu.shares"),
		period("cpu/cpu.cfs_period_us"), quota("cpu/cpu.cfs_quota_us"),
		pids("pids/pids.max", maxWord),
		hugetlb("hugetlb/", ".limit_in_bytes"),
	}
}

// filesV2 is the order of the runtime's library.
//
// opencontainers/cgroups v0.1.0: fs2/fs2.go Set.
func filesV2() rows {
	return rows{
		pids("pids.max", maxWord),
		unlimitedSwap("memory.swap.max", maxWord), memory("memory.max", maxWord),
		weight("cpu.weight"), cpuMax("cpu.max"),
		cpus("cpuset.cpus"), mems("cpuset.mems"),
		hugetlb("", ".max"),
		unified,
	}
}

// propertiesV1 assumes systemd 244 or later, as propertiesV2 does: earlier ones
// know no AllowedCPUs and, before 242, no CPUQuotaPeriodUSec.
//
// opencontainers/cgroups v0.1.0: systemd/v1.go genV1ResourcesProperties.
func propertiesV1() rows {
	return rows{
		memory("MemoryLimit", unsigned), shares("CPUShares"),
		period("CPUQuotaPeriodUSec"), quotaPerSecond("CPUQuotaPerSecUSec"),
		pids("TasksMax", unsigned),
		cpuMask("AllowedCPUs"), memMask("AllowedMemoryNodes"),
	}
}

// opencontainers/cgroups v0.1.0: systemd/v2.go genV2ResourcesProperties.
func propertiesV2() rows {
	return rows{
		memory("MemoryMax", unsigned), unlimitedSwap("MemorySwapMax", unsigned),
		weight("CPUWeight"),
		period("CPUQuotaPeriodUSec"), quotaPerSecond("CPUQuotaPerSecUSec"),
		pids("TasksMax", unsigned),
		cpuMask("AllowedCPUs"), memMask("AllowedMemoryNodes"),
		unifiedProperty(memoryMin, "MemoryMin"), unifiedProperty(memoryLow, "MemoryLow"),
		unifiedProperty(memoryHigh, "MemoryHigh"), unifiedProperty(memorySwapMax, "MemorySwapMax"),
	}
}
