package cpumanager

import (
	"fmt"
	"math"
	"slices"
)

// search looks for the NUMA nodes over which a distribution is most even.
type search struct {
	distribution
	a *accumulator
	n int
	// nodes have free CPUs, in the allocator's order. One that spans two sockets
	// stands in it twice.
	nodes []int
	// distinct are the same nodes, each once.
	distinct []int
	// tried counts the choices looked at.
	tried int
}

// maxTried is how many choices are looked at before the search counts as
// endless: all that 16 NUMA nodes can ask for in practice. The kubelet has no
// bound, and above it takes minutes for what doubles with each node.
const maxTried = 20_000_000

// choice is a set of NUMA nodes that share the request, and those of them that
// give the rest which no equal share covers.
type choice struct {
	nodes, rest []int
	// balance is how unevenly the machine would be used: the standard deviation
	// of the free CPUs of all nodes.
	balance float64
	// oneSocket is only found out with align-by-socket.
	oneSocket bool
}

// best finds the most balanced choice of k nodes; its nodes are nil when there
// is none.
func (s *search) best(k int) (choice, error) {
	best := choice{balance: math.MaxFloat64}
	var failed error
	combinations(s.nodes, k, func(nodes []int) bool {
		if best.balance == 0 && (!s.bySocket || best.oneSocket) {
			return false
		}
		candidate, ok, err := s.try(nodes)
		if err != nil {
			failed = err
			return false
		}
		if ok && s.better(candidate, best) {
			best = candidate
		}
		return true
	})
	return best, failed
}

func (s *search) count() error {
	if s.tried++; s.tried > maxTried {
		return neverEnds(fmt.Sprintf("the choices of %d NUMA nodes to distribute over are too many to go through", len(s.nodes)))
	}
	return nil
}

func (s *search) better(candidate, best choice) bool {
	if candidate.oneSocket != best.oneSocket {
		return candidate.oneSocket
	}
	return candidate.balance < best.balance
}

// try balances the request over the nodes; ok is false when they cannot hold it.
func (s *search) try(nodes []int) (c choice, ok bool, err error) {
	if err := s.count(); err != nil {
		return c, false, err
	}
	free := s.a.numa.free
	total, groups := 0, 0
	share := s.n / len(nodes) / s.group * s.group
	for i, node := range nodes {
		if !slices.Contains(nodes[:i], node) {
			total += free[node]
		}
		groups += free[node] / s.group
		if s.bySocket {
			share = min(share, free[node]/s.group*s.group)
		}
	}
	lacks := func(node int) bool { return free[node] < share }
	if total < s.n || groups*s.group < s.n || slices.ContainsFunc(nodes, lacks) {
		return c, false, nil
	}
	left := slices.Clone(free)
	var able []int
	for _, node := range nodes {
		if left[node] -= share; left[node] >= s.group {
			able = append(able, node)
		}
	}
	c = choice{nodes: nodes, balance: math.MaxFloat64}
	c.oneSocket = s.bySocket && len(s.a.topo.socketsOf(nodes)) <= 1
	if rest := s.n - share*len(nodes); rest > 0 {
		err = s.balanceRest(&c, left, able, rest)
	} else {
		c.balance = s.deviation(left)
	}
	return c, true, err
}

// balanceRest finds the nodes that give the rest most evenly. The largest
// subset that is as good as any wins.
func (s *search) balanceRest(c *choice, left, able []int, rest int) error {
	var failed error
	after := make([]int, len(left))
	for k := len(able); k >= 1 && failed == nil; k-- {
		combinations(able, k, func(subset []int) bool {
			copy(after, left)
			total := 0
			for _, node := range subset {
				total += after[node]
			}
			if failed = s.count(); failed != nil {
				return false
			}
			if total < rest {
				return true
			}
			if failed = s.giveRest(after, subset, rest); failed != nil {
				return false
			}
			if balance := s.deviation(after); balance < c.balance {
				c.balance, c.rest = balance, subset
			}
			return true
		})
	}
	return failed
}

// giveRest takes the rest from the subset in rounds of one group each. Nodes
// can hold enough CPUs and yet not enough whole groups: the kubelet's loop then
// has no end.
func (s *search) giveRest(left, subset []int, rest int) error {
	for rest > 0 {
		before := rest
		for _, node := range subset {
			if rest > 0 && left[node] >= s.group {
				left[node] -= s.group
				rest -= s.group
			}
		}
		if rest == before {
			return neverEnds(fmt.Sprintf("%d CPUs are to be taken from NUMA nodes whose free CPUs make no whole group of %d", rest, s.group))
		}
	}
	return nil
}

// deviation is the standard deviation of the CPUs left on all nodes that had
// free ones. Mean and result are rounded to three decimals, so that near ties
// are ties.
// kubelet v1.37: cm/cpumanager/cpu_assignment.go mean, standardDeviation
func (s *search) deviation(left []int) float64 {
	round := func(x float64) float64 { return math.Round(x*1000) / 1000 }
	count := float64(len(s.distinct))
	sum := 0
	for _, node := range s.distinct {
		sum += left[node]
	}
	mean := round(float64(sum) / count)
	var squares float64
	for _, node := range s.distinct {
		d := float64(left[node]) - mean
		squares += d * d
	}
	return round(math.Sqrt(squares / count))
}
