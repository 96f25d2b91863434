package cpumanager

import (
	"errors"
	"slices"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/machine"
)

// Topology is the machine as the CPU manager derives it: which CPUs belong
// together, and the counts from which it takes its averages.
// kubelet v1.37: cm/cpumanager/topology/topology.go Discover
type Topology struct {
	// NumCPUs and NumSockets are counts of their own of the machine, which need
	// not agree with the list of CPUs.
	NumCPUs, NumSockets int
	// NumCores counts the cores with a CPU online, NumNUMANodes the NUMA nodes
	// with CPUs, NumUncoreCaches the distinct uncore cache ids.
	NumCores, NumNUMANodes, NumUncoreCaches int

	// ids are the CPUs, ascending; a set holds positions in it.
	ids      []int
	position map[int]int

	numa, socket, core, cache grouping

	// What lies in each group of the outer kind, if only in part.
	socketsInNUMA, cachesInNUMA, coresInNUMA, nodesInSocket, coresInSocket [][]int
}

// grouping divides the CPUs into groups of one kind. Groups are numbered by
// rising id, so that equal ones sort as the kubelet sorts them.
type grouping struct {
	ids     []int
	of      []int
	members []set
	all     []int
}

// discover derives the topology. It fails, in the kubelet's words, for a
// machine without CPUs.
func discover(m *machine.Machine) (*Topology, error) {
	t := &Topology{NumCPUs: m.NumCPUs(), NumSockets: m.NumSockets(), position: map[int]int{}}
	if t.NumCPUs == 0 {
		return nil, errors.New("could not detect number of cpus")
	}
	cores := m.Cores()
	t.NumCores = len(cores)
	coreOf := map[int]int{}
	for _, core := range cores {
		for _, c := range core {
			// The kubelet numbers a core by its smallest thread, and CPUs come ascending.
			coreOf[c.ID] = core[0].ID
		}
	}
	uncore := m.UncoreCaches()
	var numas, sockets, coreIDs, caches []int
	for _, c := range m.CPUs {
		if !c.Online {
			continue
		}
		t.position[c.ID] = len(t.ids)
		t.ids = append(t.ids, c.ID)
		numas = append(numas, c.NUMA)
		sockets = append(sockets, c.Socket)
		coreIDs = append(coreIDs, coreOf[c.ID])
		cache := uncore[c.ID]
		if cache == machine.NoUncore {
			// kubelet v1.37: cm/cpumanager/topology/topology.go getUncoreCacheID
			cache = c.Socket
		}
		caches = append(caches, cache)
	}
	t.numa, t.socket = group(numas), group(sockets)
	t.core, t.cache = group(coreIDs), group(caches)
	t.NumNUMANodes, t.NumUncoreCaches = len(t.numa.ids), len(t.cache.ids)

	t.socketsInNUMA = inside(t.numa, t.socket)
	t.cachesInNUMA = inside(t.numa, t.cache)
	t.coresInNUMA = inside(t.numa, t.core)
	t.nodesInSocket = inside(t.socket, t.numa)
	t.coresInSocket = inside(t.socket, t.core)
	return t, nil
}

// size is the number of CPUs of a group.
func (g *grouping) size(i int) int { return g.members[i].count() }

// group makes a grouping from the group id of each CPU.
func group(idOf []int) grouping {
	g := grouping{ids: slices.Compact(slices.Sorted(slices.Values(idOf))), of: make([]int, len(idOf))}
	for i := range g.ids {
		g.all = append(g.all, i)
		g.members = append(g.members, newSet(len(idOf)))
	}
	for cpu, id := range idOf {
		i, _ := slices.BinarySearch(g.ids, id)
		g.of[cpu] = i
		g.members[i].add(cpu)
	}
	return g
}

// inside lists, for each outer group, the inner groups that share a CPU with
// it, ascending.
func inside(outer, inner grouping) [][]int {
	lists := make([][]int, len(outer.ids))
	for cpu, o := range outer.of {
		lists[o] = append(lists[o], inner.of[cpu])
	}
	for o := range lists {
		slices.Sort(lists[o])
		lists[o] = slices.Compact(lists[o])
	}
	return lists
}

// CPUsPerCore is, as CPUsPerSocket and CPUsPerUncore, an average, rounded down, of
// the whole machine. Averages decide what counts as a free core or socket, and on
// a machine with unequal ones are true for none.
// kubelet v1.37: cm/cpumanager/topology/topology.go CPUsPerCore
func (t *Topology) CPUsPerCore() int { return average(t.NumCPUs, t.NumCores) }

// CPUsPerSocket is the average number of CPUs of a socket, rounded down.
func (t *Topology) CPUsPerSocket() int { return average(t.NumCPUs, t.NumSockets) }

// CPUsPerUncore is the average number of CPUs of an uncore cache, rounded down.
func (t *Topology) CPUsPerUncore() int { return average(t.NumCPUs, t.NumUncoreCaches) }

func average(cpus, groups int) int {
	if groups == 0 {
		return 0
	}
	return cpus / groups
}

// CPUs is the set of all CPUs.
func (t *Topology) CPUs() cpuset.CPUSet { return cpuset.New(t.ids...) }

// setOf finds the positions of CPUs; those that the machine lacks are left out.
func (t *Topology) setOf(cpus cpuset.CPUSet) set {
	s := newSet(len(t.ids))
	for _, id := range cpus.UnsortedList() {
		if i, ok := t.position[id]; ok {
			s.add(i)
		}
	}
	return s
}

func (t *Topology) cpusetOf(s set) cpuset.CPUSet {
	ids := make([]int, 0, s.count())
	for i := range s.all() {
		ids = append(ids, t.ids[i])
	}
	return cpuset.New(ids...)
}

// socketsOf are the sockets that have CPUs in the NUMA nodes.
func (t *Topology) socketsOf(nodes []int) []int {
	var sockets []int
	for _, n := range nodes {
		sockets = append(sockets, t.socketsInNUMA[n]...)
	}
	slices.Sort(sockets)
	return slices.Compact(sockets)
}
