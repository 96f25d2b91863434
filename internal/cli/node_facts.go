package cli

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/cgroups"
)

// memory is the memory capacity in bytes, 0 when unknown.
func (n *node) memory() int64 {
	if q, ok := n.capacity[corev1.ResourceMemory]; ok {
		return q.Value()
	}
	if n.machine != nil {
		return n.machine.Memory
	}
	return 0
}

// pageSizes are the node's huge page sizes as cgroup files name them: those of
// the machine and of --capacity.
func (n *node) pageSizes() ([]string, error) {
	sizes := map[string]bool{}
	if n.machine != nil {
		for _, size := range n.machine.HugePageSizes() {
			sizes[size] = true
		}
	}
	for name := range n.capacity {
		if size, ok := strings.CutPrefix(string(name), corev1.ResourceHugePagesPrefix); ok {
			sizes[size] = true
		}
	}
	return cgroups.PageSizeNames(slices.Sorted(maps.Keys(sizes)))
}
