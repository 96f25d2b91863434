package cgroups

import (
	"maps"

	"k8s.io/utils/cpuset"
)

// Value is one setting with its reason.
type Value[T any] struct {
	Is T
	// Why names the field or rule that the value comes from.
	Why string
	// Unknown, if not empty, says why the value cannot be told: it is a sum over
	// pods that are not all known. Such a value is shown and never written.
	Unknown string
}

// Settings is what the kubelet asks to be set on a cgroup, its ResourceConfig,
// each value with its reason. Nil is not set. The same settings give the files
// of cgroup v1 and v2 and the properties of systemd, see [Settings.Render].
//
// kubelet v1.37: cm/types.go ResourceConfig.
type Settings struct {
	// Memory limit in bytes; -1 is no limit, 0 is not written.
	Memory *Value[int64]
	// MemorySwap is the limit of memory and swap together in bytes. Only a
	// container on v1 has one.
	MemorySwap *Value[int64]
	// CPUShares, 2 to 262144; 0 is not written.
	CPUShares *Value[uint64]
	// CPUQuota and CPUPeriod in µs; a quota below 1 is no limit.
	CPUQuota  *Value[int64]
	CPUPeriod *Value[uint64]
	// CPUs and Mems are the CPUs and NUMA nodes allowed; empty is not written.
	CPUs, Mems *Value[cpuset.CPUSet]
	// PidsLimit; below 0 is no limit, 0 is written as 1.
	PidsLimit *Value[int64]
	// HugePages are limits in bytes by page size in bytes.
	HugePages map[int64]Value[int64]
	// Unified are files of v2 by name; nothing of it reaches v1.
	Unified map[string]Value[string]
	// Runtime says that the container runtime writes the settings: it has its own
	// conversion to cpu.weight and leaves huge pages alone.
	Runtime bool
}

// over gives what a cgroup has after s and then next were written to it: a file
// that next does not name keeps its value, but each write sets all page sizes.
func (s Settings) over(next Settings) Settings {
	pick(&s.Memory, next.Memory)
	pick(&s.MemorySwap, next.MemorySwap)
	pick(&s.CPUShares, next.CPUShares)
	pick(&s.CPUQuota, next.CPUQuota)
	pick(&s.CPUPeriod, next.CPUPeriod)
	pick(&s.CPUs, next.CPUs)
	pick(&s.Mems, next.Mems)
	pick(&s.PidsLimit, next.PidsLimit)
	s.HugePages = next.HugePages
	s.Unified = maps.Clone(s.Unified)
	for file, v := range next.Unified {
		if s.Unified == nil {
			s.Unified = map[string]Value[string]{}
		}
		s.Unified[file] = v
	}
	return s
}

func pick[T any](first **Value[T], next *Value[T]) {
	if next != nil {
		*first = next
	}
}

func set[T any](is T, why string) *Value[T] { return &Value[T]{Is: is, Why: why} }

// unify sets a v2 file.
func (s *Settings) unify(file, value, why string) {
	if s.Unified == nil {
		s.Unified = map[string]Value[string]{}
	}
	s.Unified[file] = Value[string]{Is: value, Why: why}
}

// Files of v2 that the kubelet sets by name.
const (
	memoryMin      = "memory.min"
	memoryLow      = "memory.low"
	memoryHigh     = "memory.high"
	memorySwapMax  = "memory.swap.max"
	memoryOOMGroup = "memory.oom.group"
)
