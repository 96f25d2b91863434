package machine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// machine makes the machine of the objects.
func (r *hwlocReader) machine() (*Machine, error) {
	m := &Machine{}
	nodes, err := r.nodes()
	if err != nil {
		return nil, err
	}
	hardware, err := r.cpus()
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		m.NUMA = append(m.NUMA, n.node)
	}
	if err := r.markKinds(hardware); err != nil {
		return nil, err
	}
	seen := place(m, hardware, nodes)
	if err := r.addOffline(m, hardware); err != nil {
		return nil, err
	}
	m.addCPUs(hardware, seen)
	m.addCaches(hardware)
	m.assumeUncore(hardware)
	if err := r.addDistances(m); err != nil {
		return nil, err
	}
	m.sumMemory("the XML")
	m.PCI = r.pci()
	return m, nil
}

// hwlocNode is a NUMA node with the CPUs that are local to it.
type hwlocNode struct {
	node    Node
	cpus    []int
	subtype string
}

// nodes reads the NUMA nodes. The order is that in which a CPU local to several
// belongs to one: the narrowest first, ordinary memory before any other.
func (r *hwlocReader) nodes() ([]hwlocNode, error) {
	var nodes []hwlocNode
	for _, o := range r.objects {
		if o.kind != "NUMANode" {
			continue
		}
		id, ok := o.index()
		if !ok {
			return nil, fmt.Errorf("NUMANode: os_index %q is not a number", o.attr["os_index"])
		}
		cpus, err := parseBitmap(o.attr["cpuset"])
		if err != nil {
			return nil, fmt.Errorf("cpuset of NUMA node %d: %w", id, err)
		}
		n := hwlocNode{node: Node{ID: id, Memory: o.size("local_memory"), HugePages: o.hugePages()}, cpus: cpus, subtype: o.attr["subtype"]}
		nodes = append(nodes, n)
	}
	if len(nodes) == 0 {
		all, err := parseBitmap(r.root.attr["cpuset"])
		if err != nil {
			return nil, fmt.Errorf("cpuset of the machine: %w", err)
		}
		nodes = []hwlocNode{{node: Node{Memory: r.root.size("local_memory")}, cpus: all}}
	}
	slices.SortStableFunc(nodes, func(a, b hwlocNode) int {
		ordinary := func(n hwlocNode) int {
			if n.subtype == "" || n.subtype == "DRAM" {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(len(a.cpus), len(b.cpus)), cmp.Compare(ordinary(a), ordinary(b)), cmp.Compare(a.node.ID, b.node.ID))
	})
	return nodes, nil
}

// hugePages are the pages of a node beyond the smallest size, which is the
// ordinary one.
func (o *object) hugePages() map[string]int64 {
	var least int64
	for size := range o.pages {
		if least == 0 || size < least {
			least = size
		}
	}
	var huge map[string]int64
	for size, count := range o.pages {
		if size == least {
			continue
		}
		if huge == nil {
			huge = map[string]int64{}
		}
		huge[pageSize(size>>10)] = count
	}
	return huge
}

// cpus reads the PUs with the core, die, package and caches that they stand in.
func (r *hwlocReader) cpus() (map[int]*hardwareCPU, error) {
	hardware := map[int]*hardwareCPU{}
	cores, packages := map[*object]int{}, map[*object]int{}
	for _, o := range r.objects {
		if o.kind != "PU" {
			continue
		}
		id, ok := o.index()
		if !ok || id > maxID || hardware[id] != nil {
			return nil, fmt.Errorf("PU: os_index %q is not a number between 0 and %d, or stands twice", o.attr["os_index"], maxID)
		}
		h := &hardwareCPU{online: true, numa: unknown, die: unknown}
		h.core = numberOf(o.above("Core"), cores, id)
		h.socket = numberOf(o.above("Package", "Socket"), packages, 0)
		if die := o.above("Die"); die != nil {
			if n, ok := die.index(); ok {
				h.die = n
			}
		}
		var err error
		if h.caches, err = o.caches(); err != nil {
			return nil, err
		}
		hardware[id] = h
	}
	if len(hardware) == 0 {
		return nil, errors.New("no PU in it")
	}
	return hardware, nil
}

// numberOf is the kernel's number of the object; one without gets a number of
// its own, and the fallback stands for no object at all.
func numberOf(o *object, given map[*object]int, fallback int) int {
	if o == nil {
		return fallback
	}
	if n, ok := o.index(); ok {
		return n
	}
	if _, ok := given[o]; !ok {
		given[o] = len(given)
	}
	return given[o]
}

// caches are the caches of level 2 and above that the PU stands in.
func (o *object) caches() ([]hardwareCache, error) {
	var found []hardwareCache
	for p := o.parent; p != nil; p = p.parent {
		level, ok := cacheLevel(p)
		if !ok || level < 2 {
			continue
		}
		cpus, err := parseBitmap(p.attr["cpuset"])
		if err != nil {
			return nil, fmt.Errorf("cpuset of %s: %w", p.kind, err)
		}
		c := hardwareCache{level: level, size: p.size("cache_size"), kind: "Unified", cpus: cpus, id: unknown}
		if n, ok := p.index(); ok {
			c.id = n
		}
		found = append(found, c)
	}
	return found, nil
}

// cacheLevel knows "L3Cache" of hwloc 2 and 3, and "Cache" with a depth of
// hwloc 1; instruction caches are none.
func cacheLevel(o *object) (int, bool) {
	if o.attr["cache_type"] == "2" {
		return 0, false
	}
	text, ok := strings.CutSuffix(strings.TrimPrefix(o.kind, "L"), "Cache")
	if o.kind == "Cache" {
		text = o.attr["depth"]
	}
	level, err := strconv.Atoi(text)
	return level, ok && err == nil
}

// place puts each CPU on the first of the nodes that it is local to. One that is
// local to none goes to the node of the lowest id: hwloc leaves nodes without
// memory out.
func place(m *Machine, hardware map[int]*hardwareCPU, nodes []hwlocNode) map[int]seenCPU {
	seen := map[int]seenCPU{}
	put := func(id, numa int) {
		h := hardware[id]
		h.numa = numa
		seen[id] = seenCPU{numa: numa, socket: h.socket, core: h.core, uncore: NoUncore}
	}
	for _, n := range nodes {
		for _, id := range n.cpus {
			if _, ok := seen[id]; !ok && hardware[id] != nil {
				put(id, n.node.ID)
			}
		}
	}
	lowest := slices.MinFunc(nodes, func(a, b hwlocNode) int { return cmp.Compare(a.node.ID, b.node.ID) })
	for id := range hardware {
		if _, ok := seen[id]; !ok {
			put(id, lowest.node.ID)
			m.assume("CPUs that are local to no NUMA node of the XML are taken for node %d", lowest.node.ID)
		}
	}
	return seen
}

// addOffline adds the CPUs that the machine has and no object stands for.
func (r *hwlocReader) addOffline(m *Machine, hardware map[int]*hardwareCPU) error {
	if r.root.attr["complete_cpuset"] == "" {
		return nil
	}
	all, err := parseBitmap(r.root.attr["complete_cpuset"])
	if err != nil {
		return fmt.Errorf("complete_cpuset of the machine: %w", err)
	}
	for _, id := range all {
		if hardware[id] == nil {
			hardware[id] = &hardwareCPU{core: unknown, socket: unknown, die: unknown, numa: unknown}
			m.assume("CPUs that the XML does not describe are taken for offline; whoever exported it may also have been kept from them by a cgroup")
		}
	}
	return nil
}

// assumeUncore says what cAdvisor would report: caches above level 2 only.
func (m *Machine) assumeUncore(hardware map[int]*hardwareCPU) {
	for i := range m.CPUs {
		m.CPUs[i].Uncore = nil
	}
	actual := m.UncoreCaches()
	for id := range actual {
		if last, ok := hardware[id].last(); !ok || last.level < 3 {
			actual[id] = NoUncore
		}
	}
	m.settleUncore(actual)
}
