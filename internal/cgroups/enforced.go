package cgroups

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
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

// UnreservedFindings are the reserved cgroups to be enforced for which nothing is
// reserved: the kubelet ends at the first of them. Whether such a cgroup exists
// only the host can tell.
//
// kubelet v1.37: cm/node_container_manager_linux.go enforceNodeAllocatableCgroups.
func UnreservedFindings(enforced []allocatable.Enforced, driver string) []kubelet.Finding {
	var findings []kubelet.Finding
	for _, e := range enforced {
		if e.Group == allocatable.GroupKubepods || e.Resources != nil {
			continue
		}
		what, field := "System Reserved", "systemReserved"
		if e.Group == allocatable.GroupKubeReserved {
			what, field = "Kube Reserved", "kubeReserved"
		}
		if e.Compressible {
			what += " Compressible"
		}
		findings = append(findings, kubelet.Finding{Stage: kubelet.StageStart, Field: field, Message: fmt.Sprintf(
			"Failed to enforce %s Cgroup Limits on %q: %q cgroup is not configured properly", what, e.Cgroup, []string(ParseDriverName(driver, e.Cgroup)))})
	}
	return findings
}

// EnforcedSettings is what the enforcement of node allocatable asks for. A
// reserved cgroup names no huge page size, so that all of them get 0.
//
// kubelet v1.37: cm/node_container_manager_linux.go getCgroupConfig,
// enforceNodeAllocatableCgroups, enforceExistingCgroup.
func EnforcedSettings(e allocatable.Enforced) Settings {
	s := Settings{HugePages: hugePageLimits(e.Resources, e.From)}
	if cpu, ok := e.Resources[corev1.ResourceCPU]; ok {
		s.CPUShares = set(MilliCPUToShares(cpu.MilliValue()), fmt.Sprintf("%s: cpu %s", e.From, &cpu))
	}
	if memory, ok := e.Resources[corev1.ResourceMemory]; ok {
		s.Memory = set(memory.Value(), fmt.Sprintf("%s: memory %s", e.From, &memory))
		if e.ProtectMemory {
			s.unify(memoryMin, strconv.FormatInt(memory.Value(), 10), fmt.Sprintf("%s: memory %s, protected as the gate MemoryQoS is on", e.From, &memory))
		}
	}
	if pids, ok := e.Resources[allocatable.ResourcePID]; ok {
		s.PidsLimit = set(pids.Value(), fmt.Sprintf("%s: pid %s", e.From, &pids))
		if e.AssumedPIDs {
			s.PidsLimit.Why = "assumed, as the node's pid limit is unknown: the kernel's default for its memory; set --capacity pid=N"
		}
	}
	if e.CPUs != nil {
		s.CPUs = set(*e.CPUs, "all CPUs, as none can be assigned exclusively")
	}
	if e.ResetProtection {
		s.unify(memoryMin, "0", "the gate MemoryQoS is off")
		s.unify(memoryLow, "0", "the gate MemoryQoS is off")
	}
	return s
}

// group is a cgroup before it is rendered.
type group struct {
	level    Level
	name     Name
	settings Settings
}

// enforcedGroups are the cgroups that enforcement writes, one that it writes
// more than once with all that then stands in it. A reserved cgroup without a
// reservation ends the list, as it ends the kubelet's start.
func enforcedGroups(node Node) ([]group, error) {
	var groups []group
	for _, e := range node.Result.Enforced {
		name := EnforcedName(e, node.Config.PerQOS(), node.Driver)
		if e.Resources == nil {
			return groups, fmt.Errorf("enforceNodeAllocatable %s: %q cgroup is not configured properly: nothing is reserved for it, so the kubelet does not start", e.Group, []string(name))
		}
		level := LevelReserved
		if e.Group == allocatable.GroupKubepods {
			level = LevelNode
		}
		s := EnforcedSettings(e)
		i := slices.IndexFunc(groups, func(g group) bool { return slices.Equal(g.name, name) })
		if i < 0 {
			groups = append(groups, group{level, name, s})
			continue
		}
		groups[i].settings = groups[i].settings.over(s)
	}
	return groups, nil
}
