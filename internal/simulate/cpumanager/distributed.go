package cpumanager

import (
	"fmt"

	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// distribution is how takeDistributed spreads CPUs over NUMA nodes.
type distribution struct {
	packing
	// group is how many CPUs are handed out at a time: 1, or those of a core.
	group int
	// bySocket prefers NUMA nodes of one socket.
	bySocket bool
	// capped asks no chosen node for more than it has. Without, what a node fails
	// to give is missing at the end.
	capped bool
}

// takeDistributed chooses n CPUs of the free ones, evenly from as few NUMA
// nodes as can give them, and falls back to packing where none can.
// kubelet v1.37: cm/cpumanager/cpu_assignment.go takeByTopologyNUMADistributed
func (t *Topology) takeDistributed(free set, n int, how distribution) (set, error) {
	if how.group == 0 {
		return nil, divideByZero("the machine tells fewer CPUs than cores")
	}
	if n%how.group != 0 {
		return t.takePacked(free, n, how.packing)
	}
	a := t.accumulate(free, n)
	if done, err := a.begin(); done || err != nil {
		return a.result, err
	}
	s := search{distribution: how, a: a, n: n, nodes: a.nodes(), distinct: a.ascending(&a.numa, a.numa.all, nil)}
	least, most := a.nodesNeeded(how.group)
	for k := least; k <= most; k++ {
		best, err := s.best(k)
		if err != nil {
			return nil, err
		}
		if best.nodes != nil {
			return a.handOut(n, best, how)
		}
	}
	return t.takePacked(free, n, how.packing)
}

// nodesNeeded is the range of numbers of NUMA nodes worth trying. It reckons
// with all CPUs of the machine spread evenly, free or not.
// kubelet v1.37: cm/cpumanager/cpu_assignment.go rangeNUMANodesNeededToSatisfy
func (a *accumulator) nodesNeeded(group int) (least, most int) {
	ceil := func(n, by int) int { return (n-1)/by + 1 }
	perNode := ceil(ceil(len(a.topo.ids), group), a.topo.NumNUMANodes)
	groups := ceil(a.needed, group)
	return ceil(groups, perNode), min(groups, len(a.ascending(&a.numa, a.numa.all, nil)))
}

// handOut takes an equal share from every chosen node and the rest in groups
// from the nodes chosen for it.
func (a *accumulator) handOut(n int, chosen choice, how distribution) (set, error) {
	share := n / len(chosen.nodes) / how.group * how.group
	for _, node := range chosen.nodes {
		if how.capped {
			share = min(share, a.numa.free[node]/how.group*how.group)
		}
	}
	for _, node := range chosen.nodes {
		a.takeFrom(node, share, how.packing)
	}
	for rest := n - share*len(chosen.nodes); rest > 0; {
		before := rest
		for _, node := range chosen.rest {
			if rest == 0 {
				break
			}
			if a.numa.free[node] >= how.group {
				a.takeFrom(node, how.group, how.packing)
				rest -= how.group
			}
		}
		if rest == before {
			return nil, neverEnds(fmt.Sprintf("%d CPUs are left to distribute and no NUMA node is left to take them from", rest))
		}
	}
	switch {
	case a.needed > 0:
		return nil, fmt.Errorf("accounting error, not enough CPUs allocated, remaining: %v", a.needed)
	case a.needed < 0:
		return nil, fmt.Errorf("accounting error, too many CPUs allocated, remaining: %v", a.needed)
	}
	return a.result, nil
}

// takeFrom packs n CPUs into one NUMA node. As in the kubelet, a node that does
// not have as many gives none.
func (a *accumulator) takeFrom(node, n int, how packing) {
	if cpus, err := a.topo.takePacked(a.free.intersect(a.numa.members[node]), n, how); err == nil {
		a.take(cpus)
	}
}

// neverEnds is the kubelet's code going round for ever.
func neverEnds(why string) error {
	return &topologymanager.CrashError{Message: "the kubelet loops for ever in the CPU manager", Why: why}
}
