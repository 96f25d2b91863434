package cgroups

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/cpuset"
)

// infinity is how systemd shows 2^64-1.
const infinity = "infinity"

// Reloaded gives the control files that systemd writes from the properties of a
// unit, which it does anew at a daemon-reload: what else stands in them is lost.
// Properties are keyed by D-Bus name with numbers as text, 2^64-1 as infinity
// and sets as hexadecimal masks. Those that are not there are left out.
//
// systemd v257: src/core/cgroup.c cgroup_context_apply.
func Reloaded(version int, properties map[string]string) map[string]string {
	files := map[string]string{}
	limit := func(file, none, name string) {
		if value, ok := properties[name]; ok {
			if files[file] = value; value == infinity {
				files[file] = none
			}
		}
	}
	set := func(file, name string) {
		if value, ok := properties[name]; ok {
			files[file] = unmask(value).String()
		}
	}
	quota, period, limited := properties["CPUQuotaPerSecUSec"], properties["CPUQuotaPeriodUSec"], false
	if period == infinity || period == "" {
		period = strconv.Itoa(defaultPeriod)
	}
	perSecond, err := strconv.ParseInt(quota, 10, 64)
	length, wrong := strconv.ParseInt(period, 10, 64)
	if err == nil && wrong == nil {
		quota, limited = strconv.FormatInt(perSecond/1000*length/1000, 10), true
	}
	if version == 1 {
		limit("cpu/cpu.shares", "1024", "CPUShares")
		limit("memory/memory.limit_in_bytes", "-1", memoryProperty(properties))
		limit("pids/pids.max", "max", "TasksMax")
		if limited {
			files["cpu/cpu.cfs_quota_us"], files["cpu/cpu.cfs_period_us"] = quota, period
		} else if quota == infinity {
			files["cpu/cpu.cfs_quota_us"] = "-1"
		}
		return files
	}
	limit("cpu.weight", "100", "CPUWeight")
	limit("memory.max", "max", "MemoryMax")
	limit("memory.high", "max", "MemoryHigh")
	limit("memory.low", "max", "MemoryLow")
	limit("memory.min", "max", "MemoryMin")
	limit("memory.swap.max", "max", "MemorySwapMax")
	limit("pids.max", "max", "TasksMax")
	set("cpuset.cpus", "AllowedCPUs")
	set("cpuset.mems", "AllowedMemoryNodes")
	if limited {
		files["cpu.max"] = quota + " " + period
	} else if quota == infinity {
		files["cpu.max"] = "max " + period
	}
	return files
}

// ReloadedProperties are those of a unit that Reloaded reads.
func ReloadedProperties() []string {
	return []string{
		"CPUQuotaPerSecUSec", "CPUQuotaPeriodUSec", "CPUShares", "CPUWeight", "MemoryLimit", "MemoryMax", "MemoryHigh",
		"MemoryLow", "MemoryMin", "MemorySwapMax", "TasksMax", "AllowedCPUs", "AllowedMemoryNodes",
	}
}

// memoryProperty names the property that limits memory on v1: one of v2 makes
// systemd take its MemoryMax, set or not, and MemoryLimit no more.
//
// systemd v257: src/core/cgroup.c unit_has_unified_memory_config.
func memoryProperty(properties map[string]string) string {
	for name, unset := range map[string]string{
		"MemoryMin": "0", "MemoryLow": "0", "MemoryHigh": infinity, "MemoryMax": infinity, "MemorySwapMax": infinity,
	} {
		if value, ok := properties[name]; ok && value != unset {
			return "MemoryMax"
		}
	}
	return "MemoryLimit"
}

// unmask reads a byte mask as mask writes it; what is none is empty.
func unmask(text string) cpuset.CPUSet {
	bytes, err := hex.DecodeString(text)
	if err != nil {
		return cpuset.New()
	}
	var ids []int
	for n, b := range bytes {
		for bit := range 8 {
			if b&(1<<bit) != 0 {
				ids = append(ids, n*8+bit)
			}
		}
	}
	return cpuset.New(ids...)
}

// PropertyOf names the property by which systemd keeps a control file; empty
// for a file that it does not know, such as those of hugetlb.
func PropertyOf(file string) string {
	names := map[string]string{
		"cpu.weight": "CPUWeight", "cpu.max": "CPUQuotaPerSecUSec", "memory.max": "MemoryMax", "memory.high": "MemoryHigh",
		"memory.low": "MemoryLow", "memory.min": "MemoryMin", "memory.swap.max": "MemorySwapMax", "pids.max": "TasksMax",
		"cpuset.cpus": "AllowedCPUs", "cpuset.mems": "AllowedMemoryNodes",
		"cpu/cpu.shares": "CPUShares", "cpu/cpu.cfs_quota_us": "CPUQuotaPerSecUSec", "cpu/cpu.cfs_period_us": "CPUQuotaPeriodUSec",
		"memory/memory.limit_in_bytes": "MemoryLimit", "pids/pids.max": "TasksMax",
	}
	return names[file]
}

// UnitOf is the systemd unit that holds a cgroup: the last folder of its path if
// that is a slice, scope or service, else none.
func UnitOf(path string) string {
	base := path[strings.LastIndexByte(path, '/')+1:]
	suffix := base[strings.LastIndexByte(base, '.')+1:]
	if slices.Contains([]string{"slice", "scope", "service"}, suffix) && base != suffix {
		return base
	}
	return ""
}
