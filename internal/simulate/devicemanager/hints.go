package devicemanager

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// Hints are for one container.
// kubelet v1.37: cm/devicemanager/topology_hints.go GetTopologyHints
func (m *Manager) Hints(pod *corev1.Pod, c *corev1.Container) (topologymanager.Hints, error) {
	uid := string(pod.UID)
	return m.each(c.Resources.Limits, func(resource string, requested int) ([]topologymanager.Hint, error) {
		return m.list(resource, requested, m.pods[uid][c.Name][resource].ids(), m.reusable[uid][resource])
	})
}

// PodHints are for the pod as a whole; reuse is not considered.
// kubelet v1.37: cm/devicemanager/topology_hints.go GetPodTopologyHints
func (m *Manager) PodHints(pod *corev1.Pod) (topologymanager.Hints, error) {
	limits := resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{ExcludeOverhead: true})
	return m.each(limits, func(resource string, requested int) ([]topologymanager.Hint, error) {
		allocated := ids{}
		for _, resources := range m.pods[string(pod.UID)] {
			allocated = allocated.or(resources[resource].ids())
		}
		return m.list(resource, requested, allocated, nil)
	})
}

// each makes a list for every resource of limits that the manager knows.
func (m *Manager) each(limits corev1.ResourceList, list func(resource string, requested int) ([]topologymanager.Hint, error)) (topologymanager.Hints, error) {
	hints := topologymanager.Hints{}
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		if !m.managed(string(name)) {
			continue
		}
		quantity := limits[name]
		var err error
		if hints[string(name)], err = list(string(name), int(quantity.Value())); err != nil {
			return nil, err
		}
	}
	return hints, nil
}

func (m *Manager) list(resource string, requested int, allocated, reusable ids) ([]topologymanager.Hint, error) {
	switch available := m.healthy[resource].without(m.allocated[resource]); {
	case !m.aligned(resource):
		return nil, nil
	case len(allocated) > 0 && len(allocated) != requested:
		return []topologymanager.Hint{}, nil
	case len(allocated) > 0:
		return m.generate(resource, allocated, nil, requested)
	case len(available.or(reusable)) < requested:
		return []topologymanager.Hint{}, nil
	default:
		return m.generate(resource, available, reusable, requested)
	}
}

// aligned tells whether any device of the resource, healthy or not, names a
// NUMA node.
// kubelet v1.37: cm/devicemanager/topology_hints.go deviceHasTopologyAlignment
func (m *Manager) aligned(resource string) bool {
	for _, d := range m.devices[resource] {
		if len(d.NUMA) > 0 {
			return true
		}
	}
	return false
}

// generate looks for sets of nodes that host enough devices. The smallest size
// counts all devices, used and unhealthy ones too; a device on several nodes
// counts for each set that has one of them, and one without a node for none.
// kubelet v1.37: cm/devicemanager/topology_hints.go generateDeviceTopologyHints
func (m *Manager) generate(resource string, available, reusable ids, requested int) ([]topologymanager.Hint, error) {
	free, err := m.places(resource, available)
	if err != nil {
		return nil, err
	}
	reused, err := m.places(resource, reusable)
	if err != nil {
		return nil, err
	}
	reused = slices.DeleteFunc(reused, func(m topologymanager.Mask) bool { return m == 0 })
	var every []topologymanager.Mask
	for _, d := range m.devices[resource] {
		every = append(every, place(d))
	}
	nodes := m.hosts(resource)
	if err := topologymanager.Enumerable(m.Name(), nodes); err != nil {
		return nil, err
	}
	smallest := len(nodes)
	hints := []topologymanager.Hint{}
	for mask := range topologymanager.Subsets(nodes) {
		if touching(every, mask) >= requested {
			smallest = min(smallest, mask.Count())
		}
		kept := touching(reused, mask)
		if kept == len(reused) && kept+touching(free, mask) >= requested {
			hints = append(hints, topologymanager.Hint{Affinity: mask})
		}
	}
	for i := range hints {
		hints[i].Preferred = hints[i].Affinity.Count() == smallest
	}
	return hints, nil
}

// hosts are the machine's nodes that host devices of the resource; all of the
// machine when none does, and to a kubelet before v1.36.
// kubelet v1.37: cm/devicemanager/topology_hints.go deviceNUMANodes
func (m *Manager) hosts(resource string) []int {
	if !m.gates.Since(36) {
		return m.nodeIDs
	}
	var nodes []int
	for _, id := range m.nodeIDs {
		for _, d := range m.devices[resource] {
			if slices.Contains(d.NUMA, id) {
				nodes = append(nodes, id)
				break
			}
		}
	}
	if len(nodes) == 0 {
		return m.nodeIDs
	}
	return nodes
}

// places are the nodes of each device of the set. The kubelet crashes on one
// that the plugin no longer reports.
func (m *Manager) places(resource string, set ids) ([]topologymanager.Mask, error) {
	masks := make([]topologymanager.Mask, 0, len(set))
	for _, id := range set.sorted() {
		d, ok := m.devices[resource][id]
		if !ok {
			return nil, &topologymanager.CrashError{
				Message: "runtime error: invalid memory address or nil pointer dereference",
				Why:     fmt.Sprintf("the plugin of %s no longer reports the device %s, and the device manager looks it up without asking", resource, id),
			}
		}
		masks = append(masks, place(d))
	}
	return masks, nil
}

// place are the nodes of a device. Ids that no mask can hold match none.
func place(d machine.Device) topologymanager.Mask {
	var mask topologymanager.Mask
	for _, id := range d.NUMA {
		if id >= 0 && id <= topologymanager.MaxNodeID {
			mask |= 1 << id
		}
	}
	return mask
}

func touching(places []topologymanager.Mask, mask topologymanager.Mask) int {
	n := 0
	for _, p := range places {
		if p&mask != 0 {
			n++
		}
	}
	return n
}
