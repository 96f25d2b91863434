package cpumanager

import (
	"fmt"
	"slices"
)

// accumulator is one run of the allocator: it moves CPUs from free to result
// until no more are needed.
// kubelet v1.37: cm/cpumanager/cpu_assignment.go cpuAccumulator
type accumulator struct {
	topo         *Topology
	free, result set
	// needed is how many CPUs are still missing.
	needed                    int
	numa, socket, core, cache level
}

// level is a grouping with the number of free CPUs of each group.
type level struct {
	*grouping
	free []int
}

func (t *Topology) accumulate(free set, n int) *accumulator {
	a := &accumulator{topo: t, free: free.clone(), result: newSet(len(t.ids)), needed: n}
	a.numa, a.socket = count(&t.numa, free), count(&t.socket, free)
	a.core, a.cache = count(&t.core, free), count(&t.cache, free)
	return a
}

func count(g *grouping, free set) level {
	l := level{g, make([]int, len(g.ids))}
	for cpu := range free.all() {
		l.free[g.of[cpu]]++
	}
	return l
}

// begin tells whether nothing needs to be done, or nothing can be.
func (a *accumulator) begin() (done bool, err error) {
	if a.satisfied() {
		return true, nil
	}
	if free := a.free.count(); a.needed > free {
		return false, fmt.Errorf("not enough cpus available to satisfy request: requested=%d, available=%d", a.needed, free)
	}
	return false, nil
}

func (a *accumulator) satisfied() bool { return a.needed < 1 }

// take claims CPUs. As in the kubelet, CPUs that were not free, or were taken
// before, count as well: a group that a step lists twice, or that is larger
// than the average by which it passed as free, makes the result smaller than
// asked for or puts a CPU into two hands.
// kubelet v1.37: cm/cpumanager/cpu_assignment.go take
func (a *accumulator) take(cpus set) {
	for cpu := range cpus.all() {
		a.claim(cpu)
	}
}

func (a *accumulator) claim(cpu int) {
	a.needed--
	a.result.add(cpu)
	if !a.free.has(cpu) {
		return
	}
	a.free.remove(cpu)
	for _, l := range []*level{&a.numa, &a.socket, &a.core, &a.cache} {
		l.free[l.of[cpu]]--
	}
}

// ascending orders groups by their number of free CPUs, then by id, so that
// what is broken into is used up first. Groups without a free CPU, or without
// one inside the outer set, are left out; a nil outer set bounds nothing.
// kubelet v1.37: cm/cpumanager/cpu_assignment.go sort
func (a *accumulator) ascending(l *level, groups []int, outer set) []int {
	sorted := make([]int, 0, len(groups))
	for _, g := range groups {
		if l.free[g] > 0 && (outer == nil || meets(a.free, l.members[g], outer)) {
			sorted = append(sorted, g)
		}
	}
	slices.SortFunc(sorted, func(x, y int) int {
		if d := l.free[x] - l.free[y]; d != 0 {
			return d
		}
		return x - y
	})
	return sorted
}

// nested orders the inner groups of each outer group in turn. A group that lies
// in two outer ones comes twice.
func (a *accumulator) nested(outer []int, o *level, within [][]int, inner *level) []int {
	var sorted []int
	for _, g := range outer {
		sorted = append(sorted, a.ascending(inner, within[g], o.members[g])...)
	}
	return sorted
}

// socketsFirst tells whether sockets are the larger groups. With one socket on
// each NUMA node they are not.
// kubelet v1.37: cm/cpumanager/cpu_assignment.go newCPUAccumulator
func (a *accumulator) socketsFirst() bool { return a.topo.NumSockets < a.topo.NumNUMANodes }

func (a *accumulator) nodes() []int {
	if a.socketsFirst() {
		return a.nested(a.sockets(), &a.socket, a.topo.nodesInSocket, &a.numa)
	}
	return a.ascending(&a.numa, a.numa.all, nil)
}

func (a *accumulator) sockets() []int {
	if a.socketsFirst() {
		return a.ascending(&a.socket, a.socket.all, nil)
	}
	return a.nested(a.nodes(), &a.numa, a.topo.socketsInNUMA, &a.socket)
}

func (a *accumulator) cores() []int {
	if a.socketsFirst() {
		return a.nested(a.nodes(), &a.numa, a.topo.coresInNUMA, &a.core)
	}
	return a.nested(a.sockets(), &a.socket, a.topo.coresInSocket, &a.core)
}

func (a *accumulator) caches() []int {
	return a.nested(a.nodes(), &a.numa, a.topo.cachesInNUMA, &a.cache)
}

// freeCPUs lists the CPUs core by core, or, spread, the CPUs of each socket by
// id, which on common numbering takes one thread of every core first.
// kubelet v1.37: cm/cpumanager/cpu_assignment.go sortAvailableCPUsPacked, sortAvailableCPUsSpread
func (a *accumulator) freeCPUs(spread bool) []int {
	groups, l := a.cores, &a.core
	if spread {
		groups, l = a.sockets, &a.socket
	}
	var cpus []int
	for _, g := range groups() {
		for cpu := range a.free.intersect(l.members[g]).all() {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}
