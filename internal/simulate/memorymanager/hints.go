package memorymanager

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// Hints are for one container.
// kubelet v1.37: cm/memorymanager/policy_static.go GetTopologyHints
func (m *Manager) Hints(pod *corev1.Pod, c *corev1.Container) (topologymanager.Hints, error) {
	if !m.concerns(pod) {
		return nil, nil
	}
	// The kubelet only logs a quantity that it cannot represent.
	req, err := m.ofContainer(pod, c)
	if err != nil || len(req) == 0 {
		return nil, nil
	}
	if blocks, ok := m.blocks[string(pod.UID)][c.Name]; ok {
		return regenerate(blocks, req), nil
	}
	return m.calculate(string(pod.UID), req)
}

// PodHints are for the pod as a whole.
// kubelet v1.37: cm/memorymanager/policy_static.go GetPodTopologyHints
func (m *Manager) PodHints(pod *corev1.Pod) (topologymanager.Hints, error) {
	if !m.concerns(pod) {
		return nil, nil
	}
	req, err := m.ofPod(pod)
	if err != nil {
		return nil, nil
	}
	if qos.ManagedAsWhole(pod, m.gates) && m.emptyPool(pod, req) != nil {
		hints := topologymanager.Hints{}
		for typ := range req {
			hints[string(typ)] = []topologymanager.Hint{}
		}
		return hints, nil
	}
	if len(req) == 0 {
		return nil, nil
	}
	for c := range qos.Containers(pod) {
		if blocks, ok := m.blocks[string(pod.UID)][c.Name]; ok {
			return regenerate(blocks, req), nil
		}
	}
	return m.calculate(string(pod.UID), req)
}

// regenerate makes hints of the blocks that a container already has; none, that
// is no preference, when they are not what it requests.
// kubelet v1.37: cm/memorymanager/policy_static.go regenerateHints
func regenerate(blocks []kubelet.MemoryBlock, req request) topologymanager.Hints {
	if len(blocks) != len(req) {
		return nil
	}
	hints := topologymanager.Hints{}
	for typ := range req {
		hints[string(typ)] = []topologymanager.Hint{}
	}
	for _, b := range blocks {
		mask, err := topologymanager.MaskOf(b.NUMAAffinity...)
		if size, ok := req[b.Type]; !ok || size != b.Size || err != nil {
			return nil
		}
		hints[string(b.Type)] = append(hints[string(b.Type)], topologymanager.Hint{Affinity: mask, Preferred: true})
	}
	return hints
}

// calculate gives every type the same list; no list at all, which is no
// preference, when no set of nodes serves.
func (m *Manager) calculate(uid string, req request) (topologymanager.Hints, error) {
	list, err := m.candidates(uid, req)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	hints := topologymanager.Hints{}
	for typ := range req {
		hints[string(typ)] = list
	}
	return hints, nil
}

// candidates are the sets of NUMA nodes that can serve all types at once. The
// smallest size is judged by allocatable memory, service by free memory.
// kubelet v1.37: cm/memorymanager/policy_static.go calculateHints
func (m *Manager) candidates(uid string, req request) ([]topologymanager.Hint, error) {
	if err := topologymanager.Enumerable(m.Name(), m.nodeIDs); err != nil {
		return nil, err
	}
	tables, err := m.tables(req, m.nodeIDs)
	if err != nil {
		return nil, err
	}
	smallest := len(m.nodeIDs)
	var hints []topologymanager.Hint
	for mask := range topologymanager.Subsets(m.nodeIDs) {
		if !tables.fits(mask, func(t *kubelet.MemoryTable) uint64 { return t.Allocatable }, nil) {
			continue
		}
		smallest = min(smallest, mask.Count())
		if m.grouped(mask) {
			continue
		}
		if tables.fits(mask, func(t *kubelet.MemoryTable) uint64 { return t.Free }, m.reuse[uid][mask]) {
			hints = append(hints, topologymanager.Hint{Affinity: mask})
		}
	}
	for i := range hints {
		hints[i].Preferred = hints[i].Affinity.Count() == smallest
	}
	return hints, nil
}

// grouped tells whether the single or multi node rule forbids the mask: a node
// serves either alone or in one fixed group.
func (m *Manager) grouped(mask topologymanager.Mask) bool {
	single := mask.Count() == 1
	for id := range mask.All() {
		node := m.nodes[id]
		if single {
			return len(node.Cells) > 1
		}
		if node.NumberOfAssignments > 0 && !isGroup(node.Cells, mask) {
			return true
		}
	}
	return false
}

// isGroup tells whether the cells are a group of several nodes, and that mask.
func isGroup(cells []int, mask topologymanager.Mask) bool {
	if len(cells) < 2 {
		return false
	}
	group, err := topologymanager.MaskOf(cells...)
	return err == nil && group == mask && len(cells) == mask.Count()
}

// requested are the memory tables of the types of a request, for quick sums.
type requested struct {
	types []corev1.ResourceName
	sizes []uint64
	// of holds for each node id its tables in the order of types.
	of map[int][]*kubelet.MemoryTable
}

// tables looks the nodes' tables up once. A node without an entry for a requested size
// of huge pages crashes the kubelet, which asks before the node's fit is judged.
func (m *Manager) tables(req request, nodes []int) (*requested, error) {
	r := &requested{types: req.types(), of: map[int][]*kubelet.MemoryTable{}}
	for _, typ := range r.types {
		r.sizes = append(r.sizes, req[typ])
	}
	for _, id := range nodes {
		for _, typ := range r.types {
			t := m.nodes[id].MemoryMap[typ]
			if t == nil {
				return nil, nilTable(id, typ)
			}
			r.of[id] = append(r.of[id], t)
		}
	}
	return r, nil
}

func nilTable(id int, typ corev1.ResourceName) error {
	return &topologymanager.CrashError{
		Message: "runtime error: invalid memory address or nil pointer dereference",
		Why:     fmt.Sprintf("NUMA node %d has no %s, and the memory manager looks it up without asking", id, typ),
	}
}

// fits tells whether the nodes of the mask together have each type's size.
func (r *requested) fits(mask topologymanager.Mask, amount func(*kubelet.MemoryTable) uint64, reuse map[corev1.ResourceName]uint64) bool {
	for i, size := range r.sizes {
		sum := reuse[r.types[i]]
		for id := range mask.All() {
			sum += amount(r.of[id][i])
		}
		if sum < size {
			return false
		}
	}
	return true
}

// narrowest is the preferred hint of the fewest nodes, else the narrowest.
// kubelet v1.37: cm/memorymanager/policy_static.go findBestHint
func narrowest(hints []topologymanager.Hint) topologymanager.Hint {
	return slices.MinFunc(hints, func(a, b topologymanager.Hint) int {
		switch {
		case a.Preferred != b.Preferred && a.Preferred, a.Preferred == b.Preferred && a.Affinity.Narrower(b.Affinity):
			return -1
		case a == b:
			return 0
		}
		return 1
	})
}
