package cpumanager

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
)

// Request is the number of exclusive CPUs that the container asks for, or the
// pod as a whole where it is nil; 0 under policy none.
func (m *Manager) Request(pod *corev1.Pod, c *corev1.Container) int {
	switch {
	case m.policy == kubelet.CPUPolicyNone:
		return 0
	case c == nil:
		return m.podExclusive(pod)
	}
	return m.exclusive(pod, c)
}

// exclusive is the number of CPUs that the container gets for itself.
func (m *Manager) exclusive(pod *corev1.Pod, c *corev1.Container) int {
	n, _ := qos.ExclusiveCPUs(pod, c, m.gates)
	return n
}

// podExclusive is the number of exclusive CPUs that the pod holds at its peak:
// what pod-level resources ask for, or the larger of what runs together for
// good and what runs together during any ordinary init container.
// kubelet v1.37: cm/cpumanager/policy_static.go podGuaranteedCPUs
func (m *Manager) podExclusive(pod *corev1.Pod) int {
	if qos.ManagedAsWhole(pod, m.gates) {
		return m.podLevelExclusive(pod)
	}
	peak, sidecars := 0, 0
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		n := m.exclusive(pod, c)
		if qos.IsSidecar(c) {
			sidecars += n
		} else {
			peak = max(peak, sidecars+n)
		}
	}
	running := sidecars
	for i := range pod.Spec.Containers {
		running += m.exclusive(pod, &pod.Spec.Containers[i])
	}
	return max(peak, running)
}

func (m *Manager) podLevelExclusive(pod *corev1.Pod) int {
	request, set := pod.Spec.Resources.Requests[corev1.ResourceCPU]
	const milliPerCPU = 1000
	if !set || qos.Class(pod, m.gates) != corev1.PodQOSGuaranteed || request.Value()*milliPerCPU != request.MilliValue() {
		return 0
	}
	return int(request.Value())
}

// emptySharedPool says why some container of a pod with pod-level resources
// would be left without a CPU; empty when none would.
// kubelet v1.37: cm/cpumanager/policy_static.go validatePodScopeResources
func (m *Manager) emptySharedPool(pod *corev1.Pod) string {
	total := m.podExclusive(pod)
	shared, held := false, 0
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		n := m.exclusive(pod, c)
		switch {
		case qos.IsSidecar(c):
			shared, held = shared || n == 0, held+n
		case n == 0 && held >= total:
			return "pod rejected, pod has shared init containers but no cpus available for them"
		}
	}
	for i := range pod.Spec.Containers {
		n := m.exclusive(pod, &pod.Spec.Containers[i])
		shared, held = shared || n == 0, held+n
	}
	if shared && held >= total {
		return "pod rejected, sum of exclusive container cpu requests equals pod budget, leaving no cpus for shared containers"
	}
	return ""
}
