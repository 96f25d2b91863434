package memorymanager

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
)

// reservation is the reserved memory in bytes by NUMA node and type.
type reservation map[int]map[corev1.ResourceName]uint64

func (r reservation) total(typ corev1.ResourceName) uint64 {
	var sum uint64
	for _, types := range r {
		sum += types[typ]
	}
	return sum
}

// readReserved holds reservedMemory against the node's reservation: for each
// type the sums must be equal.
// kubelet v1.37: cm/memorymanager/memory_manager.go validateReservedMemory, convertReserved
func (m *Manager) readReserved(reserved []kubeletv1beta1.MemoryReservation, node corev1.ResourceList) (reservation, error) {
	sums := map[corev1.ResourceName]resource.Quantity{}
	perNode := reservation{}
	for _, r := range reserved {
		id := int(r.NumaNode)
		if !slices.Contains(m.nodeIDs, id) {
			return nil, fmt.Errorf("the reserved memory configuration references a NUMA node %d that does not exist on this machine", r.NumaNode)
		}
		for typ, q := range r.Limits {
			sum := q.DeepCopy()
			if before, ok := sums[typ]; ok {
				sum.Add(before)
			}
			sums[typ] = sum
		}
	}
	if err := equalSums(sums, node); err != nil {
		return nil, err
	}
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

// equalSums compares by rising type, where the kubelet takes its map's order.
func equalSums(sums map[corev1.ResourceName]resource.Quantity, node corev1.ResourceList) error {
	types := map[corev1.ResourceName]bool{}
	for typ := range sums {
		types[typ] = true
	}
	for typ := range node {
		if isMemory(typ) {
			types[typ] = true
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(types)) {
		want, have := resource.NewQuantity(0, resource.DecimalSI), resource.NewQuantity(0, resource.DecimalSI)
		if q, ok := node[typ]; ok {
			want.Add(q)
		}
		if q, ok := sums[typ]; ok {
			have.Add(q)
		}
		if !want.Equal(*have) {
			return fmt.Errorf("the total amount %q of type %q is not equal to the value %q determined by Node Allocatable feature", have, typ, want)
		}
	}
	return nil
}

// isMemory tells whether the manager cares for the resource.
func isMemory(name corev1.ResourceName) bool {
	return name == corev1.ResourceMemory || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
