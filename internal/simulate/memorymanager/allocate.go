package memorymanager

import (
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// The kubelet's errors of an allocation.
var (
	errNoDefault    = errors.New("[memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available")
	errDefault      = errors.New("[memorymanager] failed to find the default preferred hint")
	errNoExtension  = errors.New("[memorymanager] failed to find NUMA nodes to extend the current topology hint")
	errExtension    = errors.New("[memorymanager] failed to find the extended preferred hint")
	errMixedNumbers = errors.New("[memorymanager] preferred hint violates NUMA node allocation")
)

// Allocate gives the container its memory. Blocks that it already has stay.
// kubelet v1.37: cm/memorymanager/policy_static.go Allocate
func (m *Manager) Allocate(pod *corev1.Pod, c *corev1.Container, affinity topologymanager.Hint) error {
	if !m.concerns(pod) {
		return nil
	}
	req, err := m.ofContainer(pod, c)
	if err != nil || len(req) == 0 {
		return err
	}
	uid := string(pod.UID)
	if blocks, ok := m.blocks[uid][c.Name]; ok {
		m.reuse.update(pod, c, blocks)
		return nil
	}
	mask, err := m.place(uid, req, affinity)
	if err != nil {
		return err
	}
	var blocks []kubelet.MemoryBlock
	for _, typ := range req.types() {
		size := req[typ]
		blocks = append(blocks, kubelet.MemoryBlock{NUMAAffinity: mask.Nodes(), Type: typ, Size: size})
		charge(m.nodes, mask.Nodes(), typ, size-min(size, m.reuse[uid][mask][typ]))
	}
	m.reuse.update(pod, c, blocks)
	m.set(uid, c.Name, blocks)
	m.shrinkInit(pod, c, blocks)
	return nil
}

// place chooses the nodes: the given affinity, extended when it is too small,
// or the manager's own best hint when there is none. A hint that was preferred
// is not traded for one that is not.
func (m *Manager) place(uid string, req request, affinity topologymanager.Hint) (topologymanager.Mask, error) {
	best := affinity
	if best.Affinity == 0 {
		hints, err := m.candidates(uid, req)
		if err != nil {
			return 0, err
		}
		if len(hints) == 0 {
			return 0, errNoDefault
		}
		if _, ok := req[corev1.ResourceMemory]; !ok {
			return 0, &topologymanager.CrashError{
				Message: "runtime error: invalid memory address or nil pointer dereference",
				Why:     "the hints of type memory stand for all types, and the request has none of that type",
			}
		}
		if best = narrowest(hints); affinity.Preferred && !best.Preferred {
			return 0, errDefault
		}
	}
	tables, err := m.tables(req, best.Affinity.Nodes())
	if err != nil {
		return 0, err
	}
	if !tables.fits(best.Affinity, func(t *kubelet.MemoryTable) uint64 { return t.Free }, nil) {
		wider, err := m.extend(uid, req, best.Affinity)
		if err != nil {
			return 0, err
		}
		if best.Preferred && !wider.Preferred {
			return 0, errExtension
		}
		best = wider
	}
	if best.Affinity.Count() > 1 && m.grouped(best.Affinity) {
		return 0, errMixedNumbers
	}
	return best.Affinity, nil
}

// extend is the best hint that contains the mask.
// kubelet v1.37: cm/memorymanager/policy_static.go extendTopologyManagerHint
func (m *Manager) extend(uid string, req request, mask topologymanager.Mask) (topologymanager.Hint, error) {
	hints, err := m.candidates(uid, req)
	if err != nil {
		return topologymanager.Hint{}, err
	}
	var containing []topologymanager.Hint
	for _, h := range hints {
		if _, ok := req[corev1.ResourceMemory]; ok && h.Affinity.Contains(mask) {
			containing = append(containing, h)
		}
	}
	if len(containing) == 0 {
		return topologymanager.Hint{}, errNoExtension
	}
	return narrowest(containing), nil
}
