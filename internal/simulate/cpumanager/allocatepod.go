package cpumanager

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// AllocatePod gives a pod with pod-level resources one set of CPUs and divides
// it among its containers. Every container gets an entry, those that share the
// rest as well.
// kubelet v1.37: cm/cpumanager/policy_static.go allocatePodForAdd
func (m *Manager) AllocatePod(pod *corev1.Pod, affinity topologymanager.Hint) error {
	if m.policy == kubelet.CPUPolicyNone {
		return nil
	}
	n := m.podExclusive(pod)
	if n == 0 {
		return nil
	}
	// Checked with the hints as well, but best-effort and none go on without.
	if why := m.emptySharedPool(pod); why != "" {
		return &topologymanager.RefusalError{Reason: topologymanager.ReasonEmptyPodSharedPool, Message: why}
	}
	if err := m.checkWholeCores(n); err != nil {
		return err
	}
	cpus, err := m.claim(n, affinity.Affinity, m.none())
	if err != nil {
		return err
	}
	if m.state.PodEntries == nil {
		m.state.PodEntries = map[string]cpuset.CPUSet{}
	}
	m.state.PodEntries[string(pod.UID)] = m.topology.cpusetOf(cpus)
	parts, shared, err := m.partition(pod, cpus)
	if err != nil {
		return err
	}
	for c := range qos.Containers(pod) {
		part, ok := parts[c.Name]
		if !ok {
			part = shared
		}
		m.setEntry(pod.UID, c.Name, m.topology.cpusetOf(part))
	}
	return nil
}

// partition divides the pod's CPUs: sidecars keep theirs, ordinary init
// containers may use all that sidecars before them left, app containers take
// theirs in turn, and what is left is shared by all others.
func (m *Manager) partition(pod *corev1.Pod, cpus set) (parts map[string]set, shared set, err error) {
	parts = map[string]set{}
	shared = cpus
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		n := m.exclusive(pod, c)
		switch {
		case n > 0:
			taken, err := m.choose(shared, n)
			if err != nil {
				return nil, nil, err
			}
			parts[c.Name] = taken
			if qos.IsSidecar(c) {
				shared = shared.minus(taken)
			}
		case !qos.IsSidecar(c):
			parts[c.Name] = shared
		}
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		n := m.exclusive(pod, c)
		if n <= 0 {
			continue
		}
		taken, err := m.choose(shared, n)
		if err != nil {
			return nil, nil, err
		}
		parts[c.Name] = taken
		shared = shared.minus(taken)
	}
	return parts, shared, nil
}
