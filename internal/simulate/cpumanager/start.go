package cpumanager

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/kubelet"
)

// Start takes over the state that the kubelet finds in cpu_manager_state; the
// zero State stands for no file. It fails, in the kubelet's words, for one that
// does not belong to this machine and configuration. Where several containers
// are at fault the kubelet names any, here it is the first by name.
// kubelet v1.37: cm/cpumanager/policy_static.go validateState
func (m *Manager) Start(s State) error {
	m.state = m.restored(s)
	m.reuse = reuse{}
	if m.policy == kubelet.CPUPolicyNone {
		return nil
	}
	managed := m.topology.CPUs()
	reserved := m.topology.cpusetOf(m.reserved)
	if m.options.StrictReservation {
		managed = managed.Difference(reserved)
	}
	if s.Default.IsEmpty() {
		if len(s.Entries) > 0 {
			return errors.New("default cpuset cannot be empty")
		}
		m.state.Default = managed
		return nil
	}
	present := reserved.Intersection(s.Default)
	if m.options.StrictReservation && !present.IsEmpty() {
		return fmt.Errorf("some of strictly reserved cpus: %q are present in defaultCpuSet: %q", present, s.Default)
	}
	if !m.options.StrictReservation && !present.Equals(reserved) {
		return fmt.Errorf("not all reserved cpus: %q are present in defaultCpuSet: %q", reserved, s.Default)
	}
	return m.checkEntries(managed)
}

// checkEntries holds the entries against the shared pool and the CPUs managed.
func (m *Manager) checkEntries(managed cpuset.CPUSet) error {
	known := m.state.Default
	for _, pod := range slices.Sorted(maps.Keys(m.state.Entries)) {
		for _, container := range slices.Sorted(maps.Keys(m.state.Entries[pod])) {
			cpus := m.state.Entries[pod][container]
			if !m.state.Default.Intersection(cpus).IsEmpty() {
				return fmt.Errorf("pod: %s, container: %s cpuset: %q overlaps with default cpuset %q", pod, container, cpus, m.state.Default)
			}
			known = known.Union(cpus)
		}
	}
	for _, cpus := range m.state.PodEntries {
		known = known.Union(cpus)
	}
	if !known.Equals(managed) {
		return fmt.Errorf("current set of available CPUs %q doesn't match with CPUs in state %q", managed, known)
	}
	return nil
}

// restored is the part of the state that the gates let the kubelet read. A
// state without baselines has them in its entries.
// kubelet v1.37: cm/cpumanager/state/state_checkpoint.go restoreState
func (m *Manager) restored(s State) State {
	s = s.Clone()
	if !m.gates.Enabled(kubelet.GatePodLevelManagers) {
		s.PodEntries = nil
	}
	switch {
	case !m.keepsBaselines():
		s.Baselines = nil
	case len(s.Baselines) == 0:
		s.Baselines = cloneEntries(s.Entries)
	}
	return s
}

// keepsBaselines tells whether the CPUs of the admission are kept beside those
// of now. The gate is older than they are.
func (m *Manager) keepsBaselines() bool {
	return m.gates.Since(37) && m.gates.Enabled(kubelet.GateExclusiveResize)
}
