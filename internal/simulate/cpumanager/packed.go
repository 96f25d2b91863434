package cpumanager

import (
	"errors"
	"slices"

	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// packing says how takePacked fills the machine.
type packing struct {
	// spread takes single CPUs of different cores instead of whole cores.
	spread bool
	// byCache fills whole uncore caches before single cores.
	byCache bool
}

// takePacked chooses n CPUs of the free ones on as few groups as it finds:
// whole NUMA nodes and sockets first, then uncore caches where asked, whole
// cores and at last single CPUs.
// kubelet v1.37: cm/cpumanager/cpu_assignment.go takeByTopologyNUMAPacked
func (t *Topology) takePacked(free set, n int, how packing) (set, error) {
	a := t.accumulate(free, n)
	if done, err := a.begin(); done || err != nil {
		return a.result, err
	}
	for _, step := range a.steps(how) {
		if err := step(); err != nil {
			return nil, err
		}
		if a.satisfied() {
			return a.result, nil
		}
	}
	return nil, errors.New("failed to allocate cpus")
}

func (a *accumulator) steps(how packing) []func() error {
	steps := []func() error{a.takeNodes, a.takeSockets}
	if a.socketsFirst() {
		slices.Reverse(steps)
	}
	if how.byCache {
		steps = append(steps, a.takeByCache)
	}
	if !how.spread {
		steps = append(steps, a.takeCores)
	}
	return append(steps, func() error {
		for _, cpu := range a.freeCPUs(how.spread) {
			if a.claim(cpu); a.satisfied() {
				break
			}
		}
		return nil
	})
}

// takeWhole takes the groups that are as free as size says, in order, passing
// over those that are larger than what is missing. A group is taken with all
// its CPUs, be they free or not. Which groups are free is settled before the
// first is taken.
// kubelet v1.37: cm/cpumanager/cpu_assignment.go takeFullNUMANodes, takeFullSockets, takeFullUncore, takeFullCores
func (a *accumulator) takeWhole(l *level, groups []int, size func(g int) int) {
	groups = slices.DeleteFunc(groups, func(g int) bool { return l.free[g] != size(g) })
	for _, g := range groups {
		if a.needed >= l.size(g) {
			a.take(l.members[g])
		}
	}
}

func (a *accumulator) takeNodes() error {
	a.takeWhole(&a.numa, a.nodes(), a.numa.size)
	return nil
}

func (a *accumulator) takeSockets() error {
	a.takeWhole(&a.socket, a.sockets(), func(int) int { return a.topo.CPUsPerSocket() })
	return nil
}

func (a *accumulator) takeCores() error {
	a.takeWhole(&a.core, a.cores(), func(int) int { return a.topo.CPUsPerCore() })
	return nil
}

// takeByCache goes through the uncore caches once: at each it takes all whole
// caches that still fit, then tries to cover exactly the rest from this one.
// kubelet v1.37: cm/cpumanager/cpu_assignment.go takeUncoreCache
func (a *accumulator) takeByCache() error {
	if a.topo.CPUsPerCore() == 0 {
		return divideByZero("the machine tells fewer CPUs than cores")
	}
	for _, cache := range a.caches() {
		if a.needed >= a.topo.CPUsPerUncore() {
			a.takeWhole(&a.cache, a.caches(), a.cache.size)
		}
		if !a.satisfied() {
			a.takePartOf(cache)
		}
		if a.satisfied() {
			break
		}
	}
	return nil
}

// takePartOf takes from the cache's lowest cores when their free CPUs are
// exactly what is missing. One of those cores in use makes it pass over the
// cache, although others might do. A core that is free only in part counts as
// one core.
// kubelet v1.37: cm/cpumanager/cpu_assignment.go takePartialUncore
func (a *accumulator) takePartOf(cache int) {
	perCore := a.topo.CPUsPerCore()
	cores := (a.needed + perCore - 1) / perCore
	part := newSet(len(a.topo.ids))
	last, size := 0, 0
	for _, members := range a.core.members {
		if cores == 0 {
			break
		}
		if !meets(a.free, members, a.cache.members[cache]) {
			continue
		}
		cores--
		for cpu := range a.free.intersect(members).all() {
			part.add(cpu)
			last, size = max(last, cpu), size+1
		}
	}
	// An odd request leaves one thread of the last core, unless that CPU is not
	// the highest of the part.
	if a.needed%2 != 0 && perCore > 1 && size > a.needed {
		part.remove(last)
		size--
	}
	if size == a.needed {
		a.take(part)
	}
}

// divideByZero is the kubelet's crash on a machine whose counts make no sense.
func divideByZero(why string) error {
	return &topologymanager.CrashError{Message: "runtime error: integer divide by zero", Why: why}
}
