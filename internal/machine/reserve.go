package machine

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/utils/cpuset"
)

// WholeCores chooses n cores to reserve for the system, with all their threads:
// a thread left over would share its core with a pod. They are the first cores
// of the node of the lowest CPU, cache by cache; with splitNUMA as many on each
// NUMA node, so that every node keeps the same room for pods. Isolated cores
// come last, since the system's own work is kept from them.
func (m *Machine) WholeCores(n int, splitNUMA bool) (cpuset.CPUSet, error) {
	none := cpuset.New()
	byNode := map[int][][]CPU{}
	var nodes []int
	total := 0
	for _, core := range m.Cores() {
		numa := core[0].NUMA
		if byNode[numa] == nil {
			nodes = append(nodes, numa)
		}
		byNode[numa] = append(byNode[numa], core)
		total++
	}
	switch {
	case n < 1:
		return none, fmt.Errorf("cannot reserve %d cores: at least one", n)
	case n >= total:
		return none, fmt.Errorf("cannot reserve %d of %d cores: nothing would be left for pods", n, total)
	}
	for _, cores := range byNode {
		slices.SortStableFunc(cores, func(a, b []CPU) int {
			return cmp.Or(cmp.Compare(isolatedLast(a), isolatedLast(b)), cmp.Compare(firstOfCache(cores, a[0]), firstOfCache(cores, b[0])))
		})
	}
	var chosen []int
	for left := n; left > 0; {
		for _, numa := range nodes {
			take := left
			if splitNUMA {
				take = 1
			}
			take = min(take, left, len(byNode[numa]))
			for _, core := range byNode[numa][:take] {
				for _, c := range core {
					chosen = append(chosen, c.ID)
				}
			}
			byNode[numa] = byNode[numa][take:]
			left -= take
		}
	}
	return cpuset.New(chosen...), nil
}

func isolatedLast(core []CPU) int {
	if slices.ContainsFunc(core, func(c CPU) bool { return c.Isolated }) {
		return 1
	}
	return 0
}

// firstOfCache orders caches by the first CPU that is on them.
func firstOfCache(cores [][]CPU, c CPU) int {
	first := c.ID
	for _, core := range cores {
		if core[0].LLC == c.LLC {
			first = min(first, core[0].ID)
		}
	}
	return first
}
