package cpumanager

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// Hints are the NUMA nodes that could give the container its exclusive CPUs;
// none when it asks for none. A container that has its CPUs already gets hints
// from these alone, an empty list when their number is not what it asks for.
// kubelet v1.37: cm/cpumanager/policy_static.go getTopologyHintsForAdd
func (m *Manager) Hints(pod *corev1.Pod, c *corev1.Container) (topologymanager.Hints, error) {
	if m.policy == kubelet.CPUPolicyNone {
		return nil, nil
	}
	n := m.exclusive(pod, c)
	if n == 0 {
		return nil, nil
	}
	if entry, ok := m.state.Entries[string(pod.UID)][c.Name]; ok {
		if entry.Size() != n {
			return impossible(), nil
		}
		return m.hints(m.topology.setOf(entry), m.none(), n)
	}
	return m.hints(m.available(), m.reusable(pod), n)
}

// PodHints are the same for the pod's containers together.
// kubelet v1.37: cm/cpumanager/policy_static.go getPodTopologyHintsForAdd
func (m *Manager) PodHints(pod *corev1.Pod) (topologymanager.Hints, error) {
	if m.policy == kubelet.CPUPolicyNone {
		return nil, nil
	}
	n := m.podExclusive(pod)
	if n == 0 {
		return nil, nil
	}
	if qos.ManagedAsWhole(pod, m.gates) && m.emptySharedPool(pod) != "" {
		return impossible(), nil
	}
	assigned := m.none()
	for c := range qos.Containers(pod) {
		entry, ok := m.state.Entries[string(pod.UID)][c.Name]
		if !ok {
			continue
		}
		if entry.Size() != m.exclusive(pod, c) {
			return impossible(), nil
		}
		assigned = assigned.union(m.topology.setOf(entry))
	}
	if assigned.count() == n {
		return m.hints(assigned, m.none(), n)
	}
	return m.hints(m.available(), m.reusable(pod).union(assigned), n)
}

func impossible() topologymanager.Hints {
	return topologymanager.Hints{string(corev1.ResourceCPU): {}}
}

// hints lists every set of NUMA nodes that holds the reusable CPUs and, with
// them, n CPUs. A CPU that is both free and reusable counts twice. Preferred
// are those of the smallest number of nodes that could hold n CPUs if all were
// free.
// kubelet v1.37: cm/cpumanager/policy_static.go generateCPUTopologyHints
func (m *Manager) hints(available, reusable set, n int) (topologymanager.Hints, error) {
	t := m.topology
	if err := topologymanager.Enumerable(m.Name(), t.numa.ids); err != nil {
		return nil, err
	}
	size, free := make(map[int]int), make(map[int]int)
	var needed topologymanager.Mask
	for i, id := range t.numa.ids {
		size[id] = t.numa.size(i)
		reuse := reusable.intersect(t.numa.members[i]).count()
		free[id] = available.intersect(t.numa.members[i]).count() + reuse
		if reuse > 0 {
			needed |= 1 << id
		}
	}
	least := len(t.numa.ids)
	list := []topologymanager.Hint{}
	for mask := range topologymanager.Subsets(t.numa.ids) {
		total, fits := 0, 0
		for id := range mask.All() {
			total, fits = total+size[id], fits+free[id]
		}
		if total >= n {
			least = min(least, mask.Count())
		}
		if mask.Contains(needed) && fits >= n {
			list = append(list, topologymanager.Hint{Affinity: mask})
		}
	}
	for i, h := range list {
		aligned, err := m.socketAligned(h.Affinity, least)
		if err != nil {
			return nil, err
		}
		list[i].Preferred = aligned || h.Affinity.Count() == least
	}
	return topologymanager.Hints{string(corev1.ResourceCPU): list}, nil
}

// socketAligned tells whether, with align-by-socket, the nodes lie on as few
// sockets as the least number of nodes needs.
// kubelet v1.37: cm/cpumanager/policy_static.go isHintSocketAligned
func (m *Manager) socketAligned(mask topologymanager.Mask, least int) (bool, error) {
	t := m.topology
	if !m.options.AlignBySocket {
		return false, nil
	}
	if t.NumSockets == 0 {
		return false, divideByZero("the machine tells no sockets")
	}
	perSocket := t.NumNUMANodes / t.NumSockets
	if perSocket == 0 {
		return false, nil
	}
	return len(t.socketsOf(m.nodesIn(mask))) == (least+perSocket-1)/perSocket, nil
}

// nodesIn are the mask's NUMA nodes that have CPUs, by their number in the
// topology.
func (m *Manager) nodesIn(mask topologymanager.Mask) []int {
	var nodes []int
	for i, id := range m.topology.numa.ids {
		if mask.Has(id) {
			nodes = append(nodes, i)
		}
	}
	return nodes
}
