package cgroups

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/allocatable"
)

// EnforcedName is the cgroup that node allocatable is enforced on: the root of
// pods, or a reserved cgroup, whose text the driver reads.
//
// kubelet v1.37: cm/node_container_manager_linux.go enforceExistingCgroup.
func EnforcedName(e allocatable.Enforced, cgroupsPerQOS bool, driver string) Name {
	if e.Group == allocatable.GroupKubepods {
		return Root(e.Cgroup, cgroupsPerQOS)
	}
	return ParseDriverName(driver, e.Cgroup)
}

// EnforcedSettings is what the enforcement of node allocatable asks for.
//
// kubelet v1.37: cm/node_container_manager_linux.go getCgroupConfig,
// enforceNodeAllocatableCgroups.
func EnforcedSettings(e allocatable.Enforced) Settings {
	s := Settings{HugePages: hugePageLimits(e.Resources, e.From)}
	memory, ok := e.Resources[corev1.ResourceMemory]
	if ok {
		s.Memory = set(memory.Value(), e.From)
	}
	if cpu, ok := e.Resources[corev1.ResourceCPU]; ok {
		s.CPUShares = set(MilliCPUToShares(cpu.MilliValue()), e.From)
	}
	if pids, ok := e.Resources[allocatable.ResourcePID]; ok {
		s.PidsLimit = set(pids.Value(), e.From)
	}
	if e.CPUs != nil {
		s.CPUs = set(*e.CPUs, "no CPU is assigned exclusively")
	}
	if e.ProtectMemory {
		s.unify(memoryMin, strconv.FormatInt(memory.Value(), 10), "gate MemoryQoS")
	}
	if e.ResetProtection {
		s.unify(memoryMin, "0", "gate MemoryQoS is off")
		s.unify(memoryLow, "0", "gate MemoryQoS is off")
	}
	return s
}
