package allocatable

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/quantity"
)

// Node is what allocatable is computed on.
type Node struct {
	// Capacity holds cpu, memory, ephemeral-storage, hugepages-*, pid and swap;
	// what is absent is unknown. Other names are passed over.
	Capacity corev1.ResourceList
	// From says where a capacity is from, if not from the machine.
	From map[corev1.ResourceName]string
	// CPUs are those online; empty means unknown.
	CPUs cpuset.CPUSet
	// NUMANodes are the ids of the NUMA nodes; empty means unknown.
	NUMANodes []int
	// CgroupVersion is 1 or 2.
	CgroupVersion int
}

// NewNode describes a machine, with single capacities overridden. The machine
// may be nil.
func NewNode(m *machine.Machine, override corev1.ResourceList, cgroupVersion int) Node {
	n := Node{Capacity: Capacity(m, override), CgroupVersion: cgroupVersion}
	if m == nil {
		return n
	}
	n.CPUs = m.Online()
	for i := range m.NUMA {
		n.NUMANodes = append(n.NUMANodes, m.NUMA[i].ID)
	}
	return n
}

// Capacity is what the kubelet takes from cAdvisor's view of a machine, with
// single amounts overridden. The machine may be nil.
//
// kubelet v1.37: pkg/kubelet/cadvisor/util.go CapacityFromMachineInfo.
func Capacity(m *machine.Machine, override corev1.ResourceList) corev1.ResourceList {
	c := corev1.ResourceList{}
	if m != nil {
		if n := m.NumCPUs(); n > 0 {
			c[corev1.ResourceCPU] = *resource.NewMilliQuantity(int64(n)*1000, resource.DecimalSI)
		}
		if m.Memory > 0 {
			c[corev1.ResourceMemory] = *resource.NewQuantity(m.Memory, resource.BinarySI)
		}
		maps.Copy(c, hugePages(m))
	}
	for name, q := range override {
		c[name] = plain(name, q)
	}
	return c
}

// hugePages are the preallocated pages of each size; a size of which there is
// no page counts 0, a size that is no quantity is passed over.
func hugePages(m *machine.Machine) corev1.ResourceList {
	c := corev1.ResourceList{}
	for size, count := range m.HugePageCounts() {
		pageSize, err := quantity.Parse(size)
		if err != nil {
			continue
		}
		sum := resource.NewQuantity(pageSize.Value(), resource.BinarySI)
		sum.Mul(count)
		c[corev1.ResourceName(corev1.ResourceHugePagesPrefix+pageSize.String())] = *sum
	}
	return c
}

// plain drops how a quantity was written, because the kubelet's errors show a
// quantity's fields.
func plain(name corev1.ResourceName, q resource.Quantity) resource.Quantity {
	switch {
	case name == corev1.ResourceCPU:
		return *resource.NewMilliQuantity(q.MilliValue(), resource.DecimalSI)
	case name == corev1.ResourceMemory || quantity.IsHugePages(name):
		return *resource.NewQuantity(q.Value(), resource.BinarySI)
	}
	return *resource.NewQuantity(q.Value(), resource.DecimalSI)
}

// statusCapacity is the capacity of the node's status and pid, which the kubelet
// keeps to itself.
func statusCapacity(c *kubelet.Config, n Node) corev1.ResourceList {
	capacity := corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(podCapacity(c, n), resource.DecimalSI)}
	for name, q := range n.Capacity {
		switch {
		case name == corev1.ResourceEphemeralStorage && !isolatesStorage(c):
		case name == corev1.ResourceCPU, name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage,
			name == ResourcePID, quantity.IsHugePages(name):
			capacity[name] = plain(name, q)
		}
	}
	return capacity
}

// isolatesStorage says whether the kubelet asks for the size of its root file
// system at all.
func isolatesStorage(c *kubelet.Config) bool {
	return c.LocalStorageCapacityIsolation == nil || *c.LocalStorageCapacityIsolation
}

// kubelet v1.37: pkg/kubelet/nodestatus/setters.go MachineInfo.
func podCapacity(c *kubelet.Config, n Node) int64 {
	cpu, known := n.Capacity[corev1.ResourceCPU]
	if c.PodsPerCore <= 0 || !known {
		return int64(c.MaxPods)
	}
	return min(cpu.MilliValue()/1000*int64(c.PodsPerCore), int64(c.MaxPods))
}
