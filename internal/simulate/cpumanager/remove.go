package cpumanager

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kqos/kqos/internal/kubelet"
)

// RemoveStale drops every container that is not active. The kubelet does so
// before each hint and allocation, once all its sources of pods are ready.
// kubelet v1.37: cm/cpumanager/cpu_manager.go removeStaleState
func (m *Manager) RemoveStale(active func(pod types.UID, container string) bool) {
	for _, pod := range slices.Sorted(maps.Keys(m.state.Entries)) {
		for _, container := range slices.Sorted(maps.Keys(m.state.Entries[pod])) {
			if !active(types.UID(pod), container) {
				m.Remove(types.UID(pod), container)
			}
		}
	}
}

// Remove gives the container's CPUs back to the shared pool, but those that
// another container of the pod holds too. A pod with CPUs of its own gives them
// back with its last container. Policy none keeps what it has.
// kubelet v1.37: cm/cpumanager/policy_static.go RemoveContainer
func (m *Manager) Remove(pod types.UID, container string) {
	uid := string(pod)
	released, ok := m.state.Entries[uid][container]
	if !ok || m.policy == kubelet.CPUPolicyNone {
		return
	}
	drop(m.state.Entries, uid, container)
	drop(m.state.Baselines, uid, container)
	if cpus, ok := m.state.PodEntries[uid]; ok {
		if len(m.state.Entries[uid]) == 0 {
			m.state.Default = m.state.Default.Union(cpus)
			delete(m.state.PodEntries, uid)
		}
		return
	}
	for _, held := range m.state.Entries[uid] {
		released = released.Difference(held)
	}
	m.state.Default = m.state.Default.Union(released)
}
