package cli

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/kubelet"
)

// staticPolicy is the CPU manager policy that gives exclusive CPUs.
const staticPolicy = "static"

// perQOS tells whether the kubelet makes cgroups for classes and pods at all.
func perQOS(c *kubelet.Config) bool { return c.CgroupsPerQOS == nil || *c.CgroupsPerQOS }

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

// pageSizes are the machine's huge page sizes as cgroup files name them.
func (n *node) pageSizes() ([]string, error) {
	if n.machine == nil {
		return nil, nil
	}
	sizes := map[string]bool{}
	for size := range n.machine.HugePages {
		sizes[size] = true
	}
	for i := range n.machine.NUMA {
		for size := range n.machine.NUMA[i].HugePages {
			sizes[size] = true
		}
	}
	return cgroups.PageSizeNames(slices.Sorted(maps.Keys(sizes)))
}
