package machine

import (
	"maps"
	"slices"

	"k8s.io/utils/cpuset"
)

// NoUncore is the Uncore of a CPU on which cAdvisor reports no uncore cache.
const NoUncore = -1

// Online is the set of CPUs that the kubelet knows.
func (m *Machine) Online() cpuset.CPUSet {
	return m.where(func(c CPU) bool { return c.Online })
}

// CPUsOf is the set of online CPUs of the NUMA node.
func (m *Machine) CPUsOf(numa int) cpuset.CPUSet {
	return m.where(func(c CPU) bool { return c.Online && c.NUMA == numa })
}

func (m *Machine) where(keep func(CPU) bool) cpuset.CPUSet {
	var ids []int
	for _, c := range m.CPUs {
		if keep(c) {
			ids = append(ids, c.ID)
		}
	}
	return cpuset.New(ids...)
}

// NumCPUs is the number of logical CPUs that the kubelet counts.
func (m *Machine) NumCPUs() int {
	if m.Counts != nil && m.Counts.CPUs > 0 {
		return m.Counts.CPUs
	}
	return m.Online().Size()
}

// NumSockets is the number of sockets that the kubelet counts.
func (m *Machine) NumSockets() int {
	if m.Counts != nil && m.Counts.Sockets > 0 {
		return m.Counts.Sockets
	}
	sockets := map[int]bool{}
	for _, c := range m.CPUs {
		if c.Online {
			sockets[c.Socket] = true
		}
	}
	return len(sockets)
}

// CoreKey names a core as cAdvisor groups CPUs into cores.
type CoreKey struct{ NUMA, Socket, Core int }

// CoreKey is the core that the CPU is a thread of.
func (c CPU) CoreKey() CoreKey { return CoreKey{c.NUMA, c.Socket, c.Core} }

// Cores are the online CPUs of each core, in order of the cores' first CPUs.
func (m *Machine) Cores() [][]CPU {
	index := map[CoreKey]int{}
	var cores [][]CPU
	for _, c := range m.CPUs {
		if !c.Online {
			continue
		}
		i, ok := index[c.CoreKey()]
		if !ok {
			i = len(cores)
			index[c.CoreKey()] = i
			cores = append(cores, nil)
		}
		cores[i] = append(cores[i], c)
	}
	return cores
}

// UncoreCaches gives every online CPU the id of the uncore cache that cAdvisor
// reports on its core, or NoUncore. cAdvisor calls a cache above level 2 one of
// the node, not of the core, when as many CPUs share it as the node's cores
// times the threads of the core asked.
// cAdvisor lib v0.60: utils/sysinfo/sysinfo.go addCacheInfo
func (m *Machine) UncoreCaches() map[int]int {
	sharers := map[int]int{}
	coresOf := map[int]int{}
	cores := m.Cores()
	for _, core := range cores {
		coresOf[core[0].NUMA]++
		for _, c := range core {
			sharers[c.LLC]++
		}
	}
	uncore := make(map[int]int, len(m.CPUs))
	for _, core := range cores {
		// Only the core's first thread is asked for its caches.
		first := core[0]
		id := first.LLC
		if sharers[id] == coresOf[first.NUMA]*len(core) {
			id = NoUncore
		}
		if first.Uncore != nil {
			id = *first.Uncore
		}
		for _, c := range core {
			uncore[c.ID] = id
		}
	}
	return uncore
}

// HugePageSizes lists the page sizes that the machine or any node knows, such
// as "2Mi", sorted; a size with no preallocated page counts too.
func (m *Machine) HugePageSizes() []string {
	return slices.Sorted(maps.Keys(m.HugePageCounts()))
}

// HugePageCounts is the number of preallocated pages of each size, on the whole
// machine.
func (m *Machine) HugePageCounts() map[string]int64 {
	total := map[string]int64{}
	for _, n := range m.NUMA {
		for size, count := range n.HugePages {
			total[size] += count
		}
	}
	maps.Copy(total, m.HugePages)
	return total
}
