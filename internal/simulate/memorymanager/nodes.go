package memorymanager

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
)

// freshNodes is the memory of every NUMA node before any container. As in the
// kubelet nothing keeps the differences above zero: a node whose reservation or
// huge pages exceed its memory wraps to a huge amount.
// kubelet v1.37: cm/memorymanager/policy_static.go getDefaultMachineState
func (m *Manager) freshNodes() kubelet.NUMANodeMap {
	nodes := kubelet.NUMANodeMap{}
	for _, n := range m.machine.NUMA {
		tables := map[corev1.ResourceName]*kubelet.MemoryTable{}
		var inHugePages uint64
		for size, count := range n.HugePages {
			page, err := quantity.Parse(size)
			if err != nil {
				continue
			}
			typ := corev1.ResourceName(corev1.ResourceHugePagesPrefix + resource.NewQuantity(page.Value(), resource.BinarySI).String())
			total := uint64(count) * uint64(page.Value())
			tables[typ] = table(total, m.reserved[n.ID][typ], 0)
			inHugePages += total
		}
		tables[corev1.ResourceMemory] = table(uint64(n.Memory), m.reserved[n.ID][corev1.ResourceMemory], inHugePages)
		nodes[n.ID] = &kubelet.NUMANodeState{MemoryMap: tables, Cells: []int{n.ID}}
	}
	return nodes
}

func table(total, reserved, inHugePages uint64) *kubelet.MemoryTable {
	allocatable := total - reserved - inHugePages
	return &kubelet.MemoryTable{TotalMemSize: total, SystemReserved: reserved, Allocatable: allocatable, Free: allocatable}
}

// charge books a block on the nodes of its mask, which all join its group;
// size is what is left of the block to be covered.
// kubelet v1.37: cm/memorymanager/policy_static.go updateMachineState
func charge(nodes kubelet.NUMANodeMap, mask []int, typ corev1.ResourceName, size uint64) {
	for _, id := range mask {
		node := nodes[id]
		node.NumberOfAssignments++
		node.Cells = slices.Clone(mask)
		if size == 0 {
			continue
		}
		t := node.MemoryMap[typ]
		part := min(t.Free, size)
		t.Free -= part
		t.Reserved += part
		size -= part
	}
}

// release gives blocks back to the first nodes of their masks that have
// something reserved, which within a group need not be where it was taken.
// kubelet v1.37: cm/memorymanager/policy_static.go releaseMemory
func (m *Manager) release(blocks []kubelet.MemoryBlock) {
	for _, b := range blocks {
		size := b.Size
		for _, id := range b.NUMAAffinity {
			node := m.nodes[id]
			if node == nil {
				continue
			}
			node.NumberOfAssignments--
			if node.NumberOfAssignments == 0 {
				node.Cells = []int{id}
			}
			if t := node.MemoryMap[b.Type]; size > 0 && t != nil {
				part := min(t.Reserved, size)
				t.Reserved -= part
				t.Free += part
				size -= part
			}
		}
	}
}
