package cgroups

import (
	"encoding/hex"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"k8s.io/utils/cpuset"
)

// one is a row of one control, which a nil value leaves out.
func one[T any](name string, v *Value[T], text func(T) string) []Control {
	if v == nil {
		return nil
	}
	return []Control{{name, Value[string]{Is: text(v.Is), Why: v.Why, Unknown: v.Unknown}}}
}

func plain(n int64) string { return strconv.FormatInt(n, 10) }

// maxWord writes no limit as the kernel names it.
func maxWord(n int64) string {
	if n == -1 {
		return "max"
	}
	return plain(n)
}

// unsigned is a number as D-Bus carries it, with 2^64-1 as systemd shows it.
func unsigned(n int64) string {
	if n == -1 {
		return "infinity"
	}
	return strconv.FormatUint(uint64(n), 10)
}

func uplain(n uint64) string { return strconv.FormatUint(n, 10) }

func memory(name string, text func(int64) string) row {
	return func(s *Settings, _ Platform) []Control {
		if s.Memory == nil || s.Memory.Is == 0 {
			return nil
		}
		return one(name, s.Memory, text)
	}
}

func memorySwap(name string) row {
	return func(s *Settings, _ Platform) []Control {
		if s.MemorySwap == nil || s.MemorySwap.Is == 0 {
			return nil
		}
		return one(name, s.MemorySwap, plain)
	}
}

// unlimitedSwap lifts the swap limit together with that of memory.
//
// opencontainers/cgroups v0.1.0: utils.go ConvertMemorySwapToCgroupV2Value.
func unlimitedSwap(name string, text func(int64) string) row {
	return func(s *Settings, _ Platform) []Control {
		if s.Memory == nil || s.Memory.Is != -1 {
			return nil
		}
		return one(name, s.Memory, text)
	}
}

// opencontainers/cgroups v0.1.0: fs2/pids.go setPids.
func pids(name string, text func(int64) string) row {
	return func(s *Settings, _ Platform) []Control {
		return one(name, s.PidsLimit, func(n int64) string {
			switch {
			case n < 0:
				n = -1
			case n == 0:
				n = 1
			}
			return text(n)
		})
	}
}

func cpus(name string) row {
	return func(s *Settings, _ Platform) []Control { return listed(name, s.CPUs, cpuset.CPUSet.String) }
}

func mems(name string) row {
	return func(s *Settings, _ Platform) []Control { return listed(name, s.Mems, cpuset.CPUSet.String) }
}

func cpuMask(name string) row {
	return func(s *Settings, _ Platform) []Control { return listed(name, s.CPUs, mask) }
}

func memMask(name string) row {
	return func(s *Settings, _ Platform) []Control { return listed(name, s.Mems, mask) }
}

func listed(name string, v *Value[cpuset.CPUSet], text func(cpuset.CPUSet) string) []Control {
	if v == nil || v.Is.IsEmpty() {
		return nil
	}
	return one(name, v, text)
}

// mask is the byte mask that systemd takes, the byte of CPU 0 first, as hex.
//
// opencontainers/cgroups v0.1.0: systemd/cpuset.go RangeToBits.
func mask(set cpuset.CPUSet) string {
	bits := new(big.Int)
	for _, id := range set.UnsortedList() {
		bits.SetBit(bits, id, 1)
	}
	bytes := bits.Bytes()
	slices.Reverse(bytes)
	return hex.EncodeToString(bytes)
}

// hugetlb names the sizes that are set, then the node's others with 0. The
// limits of a container stay unwritten: containerd leaves its hugetlb controller
// off by default, and the pod's limit binds all the same.
//
// kubelet v1.37: cm/cgroup_manager_linux.go maybeSetHugetlb.
func hugetlb(prefix, suffix string) row {
	return func(s *Settings, p Platform) []Control {
		if s.Runtime {
			return nil
		}
		limits := map[string]Value[int64]{}
		for _, name := range p.PageSizes {
			limits[name] = Value[int64]{Why: "the kubelet writes 0 for each page size that it sets no limit for"}
		}
		for size, v := range s.HugePages {
			if name, ok := PageSizeName(size); ok {
				limits[name] = v
			}
		}
		var controls []Control
		for _, name := range slices.Sorted(maps.Keys(limits)) {
			v := limits[name]
			text := Value[string]{Is: uplain(uint64(v.Is)), Why: v.Why, Unknown: v.Unknown}
			controls = append(controls,
				Control{prefix + "hugetlb." + name + suffix, text},
				Control{prefix + "hugetlb." + name + ".rsvd" + suffix, text})
		}
		return controls
	}
}

func unified(s *Settings, _ Platform) []Control {
	var controls []Control
	for _, name := range slices.Sorted(maps.Keys(s.Unified)) {
		controls = append(controls, Control{name, s.Unified[name]})
	}
	return controls
}

// opencontainers/cgroups v0.1.0: systemd/v2.go unifiedResToSystemdProps.
func unifiedProperty(file, name string) row {
	return func(s *Settings, _ Platform) []Control {
		v, ok := s.Unified[file]
		if !ok {
			return nil
		}
		if v.Is == "max" {
			v.Is = "infinity"
		}
		return []Control{{name, v}}
	}
}
