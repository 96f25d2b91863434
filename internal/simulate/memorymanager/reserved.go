package memorymanager

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/quantity"
)

// reservation is the reserved memory in bytes by NUMA node and type.
type reservation map[int]map[corev1.ResourceName]uint64

// readReserved reads reservedMemory, which must be equal to what the node keeps
// of each type.
// kubelet v1.37: cm/memorymanager/memory_manager.go convertReserved
func (m *Manager) readReserved(reserved []kubeletv1beta1.MemoryReservation, node corev1.ResourceList) (reservation, error) {
	if errs := allocatable.CheckReservedMemory(reserved, node, m.nodeIDs); len(errs) > 0 {
		return nil, errs[0]
	}
	perNode := reservation{}
	for _, r := range reserved {
		id := int(r.NumaNode)
		if perNode[id] == nil {
			perNode[id] = map[corev1.ResourceName]uint64{}
		}
		for typ, q := range r.Limits {
			size, ok := q.AsInt64()
			if !ok {
				return nil, errors.New("could not covert a variable of type Quantity to int64")
			}
			perNode[id][typ] = uint64(size)
		}
	}
	return perNode, nil
}

// isMemory tells whether the manager cares for the resource.
func isMemory(name corev1.ResourceName) bool {
	return name == corev1.ResourceMemory || quantity.IsHugePages(name)
}
