package allocatable

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/kubelet"
)

// Group names the cgroups that the kubelet limits for the node.
type Group string

// The groups: the root of all pods, and the two reserved ones.
const (
	GroupKubepods       Group = "kubepods"
	GroupSystemReserved Group = "system-reserved"
	GroupKubeReserved   Group = "kube-reserved"
)

// Enforced is what the kubelet sets on one of these cgroups at its start, as
// amounts. Package cgroups turns them into files and properties.
type Enforced struct {
	Group Group
	// Cgroup is the name as the configuration writes it: cgroupRoot for
	// kubepods, which lies below it with cgroupsPerQOS, else the reserved cgroup.
	Cgroup string
	// Resources are limits: cpu (as shares), memory, pid and hugepages-*. What
	// is absent is not set; nil, for a reserved cgroup, makes the start fail.
	Resources corev1.ResourceList
	// Compressible says that of a reservation only the cpu is enforced.
	Compressible bool
	// From names the field or rule of all the amounts.
	From string
	// AssumedPIDs says that the node's pid capacity is unknown and its limit here
	// the kernel's default for the memory: the kubelet always sets one.
	AssumedPIDs bool
	// CPUs are allowed to the cgroup; nil when not set.
	CPUs *cpuset.CPUSet
	// ProtectMemory asks for memory.min of the amount of memory (v2).
	ProtectMemory bool
	// ResetProtection asks for memory.min and memory.low of 0 (v2).
	ResetProtection bool
}

// enforced lists the cgroups in the order in which the kubelet writes them.
//
// kubelet v1.37: cm/node_container_manager_linux.go enforceNodeAllocatableCgroups.
func enforced(c *kubelet.Config, n Node, r *Result) []Enforced {
	var list []Enforced
	cpus := allowedCPUs(c, n, r)
	memoryQoS := c.Gates.Enabled(kubelet.GateMemoryQoS)
	if c.PerQOS() || strings.Trim(c.CgroupRoot, "/") != "" {
		capacity, assumed := withPIDs(r.Capacity)
		e := Enforced{Group: GroupKubepods, Cgroup: c.CgroupRoot, Resources: withoutStatusOnly(capacity), From: "capacity", CPUs: cpus, AssumedPIDs: assumed}
		if c.PerQOS() && slices.Contains(c.EnforceNodeAllocatable, kubelet.EnforcePods) {
			e.Resources, e.From = withoutStatusOnly(r.Reservations.absolute(capacity)), "capacity - systemReserved - kubeReserved"
		}
		// kubelet v1.36 and before leaves what an earlier configuration wrote.
		e.ResetProtection = !memoryQoS && n.CgroupVersion == 2 && c.Gates.Since(37)
		list = append(list, e)
	}
	reserved := func(word string, g Group, cgroup string, amounts corev1.ResourceList, from string, compressible bool) {
		if !slices.Contains(c.EnforceNodeAllocatable, word) {
			return
		}
		e := Enforced{Group: g, Cgroup: cgroup, Resources: amounts, Compressible: compressible, From: from, CPUs: cpus}
		if compressible {
			e.Resources = only(amounts, corev1.ResourceCPU)
		}
		_, e.ProtectMemory = e.Resources[corev1.ResourceMemory]
		e.ProtectMemory = e.ProtectMemory && memoryQoS
		list = append(list, e)
	}
	system, kube := r.Reservations.System, r.Reservations.Kube
	reserved(kubelet.EnforceSystemReserved, GroupSystemReserved, c.SystemReservedCgroup, system, "systemReserved", false)
	reserved(kubelet.EnforceKubeReserved, GroupKubeReserved, c.KubeReservedCgroup, kube, "kubeReserved", false)
	reserved(kubelet.EnforceSystemReservedCompressible, GroupSystemReserved, c.SystemReservedCgroup, system, "systemReserved", true)
	reserved(kubelet.EnforceKubeReservedCompressible, GroupKubeReserved, c.KubeReservedCgroup, kube, "kubeReserved", true)
	return list
}

// withPIDs adds the pid capacity where it is unknown and the memory is not. It
// is the kernel's threads-max for the memory, at most the pid_max that systemd
// sets; the real one is slightly lower, as the kernel counts less memory at
// boot.
//
// kernel: kernel/fork.c set_max_threads, with 16 KiB of stack a thread.
func withPIDs(capacity corev1.ResourceList) (with corev1.ResourceList, assumed bool) {
	const threadBytes, pidMax = 8 * 16 << 10, 4194304
	memory := capacity[corev1.ResourceMemory]
	if _, told := capacity[ResourcePID]; told || memory.Value() < threadBytes {
		return capacity, false
	}
	with = maps.Clone(capacity)
	with[ResourcePID] = *resource.NewQuantity(min(memory.Value()/threadBytes, pidMax), resource.DecimalSI)
	return with, true
}

// withoutStatusOnly drops what no cgroup limits.
func withoutStatusOnly(list corev1.ResourceList) corev1.ResourceList {
	limits := corev1.ResourceList{}
	for name, q := range list {
		if name != corev1.ResourcePods && name != corev1.ResourceEphemeralStorage {
			limits[name] = q
		}
	}
	return limits
}

// only keeps one resource. Nil stays nil: nothing was reserved.
func only(list corev1.ResourceList, name corev1.ResourceName) corev1.ResourceList {
	if list == nil {
		return nil
	}
	kept := corev1.ResourceList{}
	if q, ok := list[name]; ok {
		kept[name] = q
	}
	return kept
}

// allowedCPUs is all CPUs when no CPU can be assigned exclusively, nil
// otherwise or when the CPUs are unknown. It makes systemd aware of the cpuset.
//
// kubelet v1.37: cm/node_container_manager_linux.go getCgroupConfig.
func allowedCPUs(c *kubelet.Config, n Node, r *Result) *cpuset.CPUSet {
	if n.CPUs.IsEmpty() {
		return nil
	}
	if c.CPUManagerPolicy == kubelet.CPUPolicyStatic {
		reserved := r.Reservations.Of(corev1.ResourceCPU)
		if reserved.Value() < int64(n.CPUs.Size()) {
			return nil
		}
	}
	return &n.CPUs
}
