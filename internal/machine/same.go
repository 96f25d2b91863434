package machine

import (
	"fmt"
	"maps"
	"slices"
)

// sameAs tells how another machine differs for the kubelet: CPUs, their groups,
// memory, huge pages and distances. Numbers of cores and caches are names only,
// as long as they group alike and in the same order.
func (m *Machine) sameAs(o *Machine) error {
	if len(m.CPUs) != len(o.CPUs) {
		return fmt.Errorf("%d CPUs, not %d", len(m.CPUs), len(o.CPUs))
	}
	groups := []struct {
		name string
		of   func(CPU) string
	}{
		{"core", func(c CPU) string { return fmt.Sprint(c.CoreKey()) }},
		{"last level cache", func(c CPU) string { return fmt.Sprint(c.LLC) }},
	}
	for _, g := range groups {
		there := map[string]string{}
		for i, c := range m.CPUs {
			other, ok := there[g.of(c)]
			if !ok {
				there[g.of(c)], other = g.of(o.CPUs[i]), g.of(o.CPUs[i])
			}
			if other != g.of(o.CPUs[i]) || c.ID != o.CPUs[i].ID {
				return fmt.Errorf("CPU %d shares its %s with others than a regular numbering has", c.ID, g.name)
			}
		}
		back := map[string]bool{}
		for _, other := range there {
			back[other] = true
		}
		if len(back) != len(there) {
			return fmt.Errorf("it has more than one %s where a regular machine has one", g.name)
		}
	}
	uncore, others := m.UncoreCaches(), o.UncoreCaches()
	for i, c := range m.CPUs {
		d := o.CPUs[i]
		if c.Socket != d.Socket || c.NUMA != d.NUMA {
			return fmt.Errorf("CPU %d is on socket %d and NUMA node %d, where a regular numbering has it on %d and %d", c.ID, c.Socket, c.NUMA, d.Socket, d.NUMA)
		}
		if (uncore[c.ID] == NoUncore) != (others[c.ID] == NoUncore) {
			return fmt.Errorf("cAdvisor sees the cache of CPU %d otherwise than on a regular machine", c.ID)
		}
	}
	return m.sameMemory(o)
}

func (m *Machine) sameMemory(o *Machine) error {
	if m.Memory != o.Memory {
		return fmt.Errorf("its memory is %d bytes, not the %d of its NUMA nodes", m.Memory, o.Memory)
	}
	for i, n := range m.NUMA {
		switch other := o.NUMA[i]; {
		case n.Memory != other.Memory:
			return fmt.Errorf("NUMA node %d has %d bytes of memory, its like %d", n.ID, n.Memory, other.Memory)
		case !maps.Equal(n.HugePages, other.HugePages):
			return fmt.Errorf("the huge pages of NUMA node %d are not those of its like", n.ID)
		case !slices.Equal(n.Distances, other.Distances):
			return fmt.Errorf("the distances of NUMA node %d are not regular", n.ID)
		}
	}
	return nil
}
