package memorymanager

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// reusable is the memory of ordinary init containers that later containers of
// the pod may take over, by pod UID, node mask and type. It knows only the pod
// that is being admitted.
type reusable map[string]map[topologymanager.Mask]request

// update books what a container got. An ordinary init container leaves its
// memory to the next; any other takes what is there.
// kubelet v1.37: cm/memorymanager/policy_static.go updatePodReusableMemory
func (r reusable) update(pod *corev1.Pod, c *corev1.Container, blocks []kubelet.MemoryBlock) {
	uid := string(pod.UID)
	for other := range r {
		if other != uid {
			delete(r, other)
		}
	}
	ordinary := ordinaryInit(pod, c.Name)
	if ordinary && r[uid] == nil {
		r[uid] = map[topologymanager.Mask]request{}
	}
	for _, b := range blocks {
		mask, err := topologymanager.MaskOf(b.NUMAAffinity...)
		if err != nil {
			continue
		}
		if !ordinary {
			if left := r[uid][mask][b.Type]; left > 0 {
				r[uid][mask][b.Type] = left - min(left, b.Size)
			}
			continue
		}
		if r[uid][mask] == nil {
			r[uid][mask] = request{}
		}
		r[uid][mask][b.Type] = max(r[uid][mask][b.Type], b.Size)
	}
}

func ordinaryInit(pod *corev1.Pod, name string) bool {
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; c.Name == name {
			return !qos.IsSidecar(c)
		}
	}
	return false
}

// shrinkInit takes from the blocks of earlier ordinary init containers what the
// container took over, so that the sizes of all blocks add up to what is
// charged.
// kubelet v1.37: cm/memorymanager/policy_static.go updateInitContainersMemoryBlocks
func (m *Manager) shrinkInit(pod *corev1.Pod, c *corev1.Container, taken []kubelet.MemoryBlock) {
	uid := string(pod.UID)
	for _, t := range taken {
		left := t.Size
		for i := range pod.Spec.InitContainers {
			init := &pod.Spec.InitContainers[i]
			if init.Name == c.Name || left == 0 {
				break
			}
			if qos.IsSidecar(init) {
				continue
			}
			blocks := m.blocks[uid][init.Name]
			for j := range blocks {
				if b := &blocks[j]; b.Type == t.Type && sameNodes(b.NUMAAffinity, t.NUMAAffinity) {
					part := min(b.Size, left)
					b.Size -= part
					left -= part
				}
			}
		}
	}
}

func sameNodes(a, b []int) bool {
	x, errX := topologymanager.MaskOf(a...)
	y, errY := topologymanager.MaskOf(b...)
	return errX == nil && errY == nil && x == y
}
