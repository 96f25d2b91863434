package memorymanager

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

func podLevelSet(pod *corev1.Pod) bool { return resourcehelper.IsPodLevelResourcesSet(pod) }

// emptyPool tells why the containers that share the pod's memory would have
// none; nil when they have some. The kubelet names the first such type of its
// map's order, here the first by name.
// kubelet v1.37: cm/memorymanager/policy_static.go validatePodScopeResources
func (m *Manager) emptyPool(pod *corev1.Pod, total request) error {
	shared := false
	exclusive := request{}
	exhausted := func() (corev1.ResourceName, bool) {
		var types []corev1.ResourceName
		for _, typ := range total.types() {
			if exclusive[typ] >= total[typ] {
				types = append(types, typ)
			}
		}
		if len(types) == 0 {
			return "", false
		}
		m.chance = m.chance || len(types) > 1
		return types[0], true
	}
	for c := range qos.Containers(pod) {
		req, err := m.ofContainer(pod, c)
		if err != nil {
			return err
		}
		ordinary := ordinaryInit(pod, c.Name)
		switch {
		case ordinary && len(req) == 0:
			if typ, ok := exhausted(); ok {
				return fmt.Errorf("pod rejected, pod has shared init containers but no %s available for them", typ)
			}
		case len(req) == 0:
			shared = true
		case !ordinary:
			for typ, size := range req {
				exclusive[typ] += size
			}
		}
	}
	if typ, ok := exhausted(); ok && shared {
		return fmt.Errorf("pod rejected, sum of exclusive container %s requests equals pod budget, leaving no memory for shared containers", typ)
	}
	return nil
}

// AllocatePod gives a pod with pod-level resources its memory and divides it
// among the containers. Unlike Allocate it does not look for what the pod
// already has: after a restart the pod is charged again.
// kubelet v1.37: cm/memorymanager/policy_static.go AllocatePod
func (m *Manager) AllocatePod(pod *corev1.Pod, affinity topologymanager.Hint) error {
	if !m.Static() || qos.Class(pod, m.gates) != corev1.PodQOSGuaranteed {
		return nil
	}
	total, err := m.ofPod(pod)
	if err != nil {
		return nil
	}
	if err := m.emptyPool(pod, total); err != nil {
		return &topologymanager.RefusalError{Reason: topologymanager.ReasonEmptyPodSharedPool, Message: err.Error()}
	}
	uid := string(pod.UID)
	mask, err := m.place(uid, total, affinity)
	if err != nil {
		return err
	}
	own, pool, err := m.divide(pod, total)
	if err != nil {
		return err
	}
	for _, typ := range total.types() {
		charge(m.nodes, mask.Nodes(), typ, total[typ])
	}
	m.pods[uid] = kubelet.PodMemory{MemoryBlocks: blocksOf(total, mask, true)}
	for c := range qos.Containers(pod) {
		part, ok := own[c.Name]
		if !ok {
			part = pool
		}
		m.set(uid, c.Name, blocksOf(part, mask, false))
	}
	return nil
}

func sidecar(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == name }) && !ordinaryInit(pod, name)
}

// divide gives the containers their own parts of the pod's memory, and the rest
// that all others share. An ordinary init container without memory of its own
// has all that the sidecars before it leave.
func (m *Manager) divide(pod *corev1.Pod, total request) (own map[string]request, pool request, err error) {
	own, pool = map[string]request{}, maps.Clone(total)
	for c := range qos.Containers(pod) {
		req, err := m.ofContainer(pod, c)
		if err != nil {
			return nil, nil, err
		}
		ordinary := ordinaryInit(pod, c.Name)
		if len(req) == 0 && ordinary {
			rest := request{}
			for typ := range total {
				rest[typ] = pool[typ]
			}
			own[c.Name] = rest
		}
		if len(req) == 0 {
			continue
		}
		own[c.Name] = req
		for typ, size := range req {
			// A type that only the container names wraps below zero in the
			// kubelet when an app container takes it, not when a sidecar does.
			if _, known := total[typ]; !ordinary && (known || !sidecar(pod, c.Name)) {
				pool[typ] -= size
			}
		}
	}
	return own, pool, nil
}

func blocksOf(req request, mask topologymanager.Mask, withZero bool) []kubelet.MemoryBlock {
	blocks := []kubelet.MemoryBlock{}
	for _, typ := range req.types() {
		if size := req[typ]; withZero || size > 0 {
			blocks = append(blocks, kubelet.MemoryBlock{NUMAAffinity: mask.Nodes(), Type: typ, Size: size})
		}
	}
	return blocks
}
