package machine

import (
	"cmp"
	"slices"
)

// BoxKind is a level of the hardware.
type BoxKind string

// The levels that a layout knows.
const (
	BoxMachine BoxKind = "machine"
	BoxPackage BoxKind = "package"
	BoxNUMA    BoxKind = "numa"
	BoxDie     BoxKind = "die"
	BoxCache   BoxKind = "cache"
	BoxCore    BoxKind = "core"
	// BoxOffline holds the CPUs whose place the kernel does not tell.
	BoxOffline BoxKind = "offline"
)

// Box is a part of the machine with the parts that stand in it.
type Box struct {
	Kind  BoxKind
	ID    int
	CPUs  []CPU
	Inner []*Box
	// Node is set for a NUMA node.
	Node *Node
	// Cache is set for a cache whose size and sharers are known.
	Cache *Cache
	// Type is set for a core of a hybrid machine.
	Type CoreType
}

// Layout is the machine as boxes in one another, the outer kind being the one
// of which there are fewer: packages hold NUMA nodes, or a node holds packages;
// caches hold nodes on machines that split a socket's cache. Nodes without CPUs
// and CPUs without a place stand in the machine itself, last.
func (m *Machine) Layout() *Box {
	var placed, lost []CPU
	for _, c := range m.CPUs {
		if c.Socket < 0 && c.Core < 0 && !c.Online {
			lost = append(lost, c)
		} else {
			placed = append(placed, c)
		}
	}
	root := &Box{Kind: BoxMachine, CPUs: m.CPUs}
	root.Inner = m.boxes(placed, m.levels(placed))
	drawn := map[int]bool{}
	for _, c := range placed {
		drawn[c.NUMA] = true
	}
	for i, n := range m.NUMA {
		if !drawn[n.ID] {
			root.Inner = append(root.Inner, &Box{Kind: BoxNUMA, ID: n.ID, Node: &m.NUMA[i]})
		}
	}
	if len(lost) > 0 {
		root.Inner = append(root.Inner, &Box{Kind: BoxOffline, CPUs: lost})
	}
	return root
}

// boxLevel is a kind of box with the key that tells its boxes apart.
type boxLevel struct {
	kind BoxKind
	key  func(CPU) int
}

func (m *Machine) levels(cpus []CPU) []boxLevel {
	levels := []boxLevel{
		{BoxPackage, func(c CPU) int { return c.Socket }},
		{BoxNUMA, func(c CPU) int { return c.NUMA }},
		{BoxDie, func(c CPU) int {
			if c.Die == nil {
				return unknown
			}
			return c.Socket<<16 | *c.Die
		}},
		{BoxCache, func(c CPU) int { return c.LLC }},
	}
	count := map[BoxKind]int{}
	for _, l := range levels {
		keys := map[int]bool{}
		for _, c := range cpus {
			keys[l.key(c)] = true
		}
		count[l.kind] = len(keys)
	}
	// A die for each package or cache says nothing that they do not.
	if count[BoxDie] <= count[BoxPackage] || count[BoxDie] == count[BoxCache] {
		levels = slices.DeleteFunc(levels, func(l boxLevel) bool { return l.kind == BoxDie })
	}
	slices.SortStableFunc(levels, func(a, b boxLevel) int { return cmp.Compare(count[a.kind], count[b.kind]) })
	return levels
}

// boxes divides the CPUs by the first level, and each part by the rest.
func (m *Machine) boxes(cpus []CPU, levels []boxLevel) []*Box {
	if len(levels) == 0 {
		return coreBoxes(cpus)
	}
	level := levels[0]
	var boxes []*Box
	index := map[int]*Box{}
	for _, c := range cpus {
		key := level.key(c)
		b := index[key]
		if b == nil {
			b = &Box{Kind: level.kind, ID: key}
			index[key] = b
			boxes = append(boxes, b)
		}
		b.CPUs = append(b.CPUs, c)
	}
	slices.SortStableFunc(boxes, func(a, b *Box) int { return cmp.Compare(a.ID, b.ID) })
	for _, b := range boxes {
		switch b.Kind {
		case BoxNUMA:
			if i := slices.IndexFunc(m.NUMA, func(n Node) bool { return n.ID == b.ID }); i >= 0 {
				b.Node = &m.NUMA[i]
			}
		case BoxCache:
			b.Cache = m.cacheOf(b.CPUs)
		case BoxDie:
			b.ID &= 1<<16 - 1
		}
		b.Inner = m.boxes(b.CPUs, levels[1:])
	}
	return boxes
}

// cacheOf is the highest cache that the first online one of the CPUs shares.
func (m *Machine) cacheOf(cpus []CPU) *Cache {
	i := slices.IndexFunc(cpus, func(c CPU) bool { return c.Online || c.Hidden != "" })
	if i < 0 {
		return nil
	}
	for j := len(m.Caches) - 1; j >= 0; j-- {
		ids, err := parseList(m.Caches[j].CPUs)
		if err == nil && slices.Contains(ids, cpus[i].ID) {
			return &m.Caches[j]
		}
	}
	return nil
}

func coreBoxes(cpus []CPU) []*Box {
	var boxes []*Box
	index := map[CoreKey]*Box{}
	for _, c := range cpus {
		b := index[c.CoreKey()]
		if b == nil || c.Core < 0 {
			b = &Box{Kind: BoxCore, ID: c.Core, Type: c.Type}
			index[c.CoreKey()] = b
			boxes = append(boxes, b)
		}
		b.CPUs = append(b.CPUs, c)
	}
	return boxes
}
