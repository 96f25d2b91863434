package memorymanager

import (
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/qos"
)

// request is memory in bytes by type.
type request map[corev1.ResourceName]uint64

// types are sorted, where the kubelet takes its map's order.
func (r request) types() []corev1.ResourceName { return slices.Sorted(maps.Keys(r)) }

var errNotInt64 = errors.New("[memorymanager] failed to represent quantity as int64")

// concerns tells whether the manager pins the pod's memory at all.
func (m *Manager) concerns(pod *corev1.Pod) bool {
	if !m.Static() || qos.Class(pod, m.gates) != corev1.PodQOSGuaranteed {
		return false
	}
	return pod.Spec.Resources == nil || !podLevelSet(pod) || qos.ManagedAsWhole(pod, m.gates)
}

// ofContainer is what a container requests. Within a pod placed by pod-level
// resources only a container that by itself looks Guaranteed requests anything.
// kubelet v1.37: cm/memorymanager/policy_static.go getContainerRequestedResources
func (m *Manager) ofContainer(pod *corev1.Pod, c *corev1.Container) (request, error) {
	if qos.ManagedAsWhole(pod, m.gates) && !qos.RequestsEqualLimits(c) {
		return request{}, nil
	}
	return memoryOf(c.Resources.Requests, true)
}

func memoryOf(list corev1.ResourceList, withZero bool) (request, error) {
	r := request{}
	for name, q := range list {
		if !isMemory(name) {
			continue
		}
		size, ok := q.AsInt64()
		if !ok {
			return nil, errNotInt64
		}
		if withZero || size > 0 {
			r[name] = uint64(size)
		}
	}
	return r, nil
}

// ofPod is what the pod requests as a whole: the larger of what runs for long
// and the largest step of the init sequence. A type that only init containers
// request does not count.
// kubelet v1.37: cm/memorymanager/policy_static.go getPodRequestedResources
func (m *Manager) ofPod(pod *corev1.Pod) (request, error) {
	if qos.ManagedAsWhole(pod, m.gates) {
		return memoryOf(pod.Spec.Resources.Requests, false)
	}
	largest, sidecars, apps := request{}, request{}, request{}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		r, err := m.ofContainer(pod, c)
		if err != nil {
			return nil, err
		}
		for typ, size := range r {
			if qos.IsSidecar(c) {
				sidecars[typ] += size
			} else {
				largest[typ] = max(largest[typ], sidecars[typ]+size)
			}
		}
	}
	for i := range pod.Spec.Containers {
		r, err := m.ofContainer(pod, &pod.Spec.Containers[i])
		if err != nil {
			return nil, err
		}
		for typ, size := range r {
			apps[typ] += size
		}
	}
	for typ, size := range apps {
		apps[typ] = max(size+sidecars[typ], largest[typ])
	}
	return apps, nil
}
