package topologymanager

import (
	"fmt"
	"iter"
	"math/bits"
	"strconv"
	"strings"
)

// MaxNodeID is the highest NUMA node id that fits a Mask.
// kubelet v1.37: cm/topologymanager/bitmask/bitmask.go Add
const MaxNodeID = 63

// Mask is a set of NUMA nodes, one bit for each id. The empty mask stands for
// "no affinity" wherever a Hint holds it.
type Mask uint64

// MaskOf is the set of the given NUMA node ids; ids outside 0 to MaxNodeID are
// an error.
func MaskOf(ids ...int) (Mask, error) {
	var m Mask
	for _, id := range ids {
		if id < 0 || id > MaxNodeID {
			return 0, fmt.Errorf("NUMA node %d: bit number must be in range 0-%d", id, MaxNodeID)
		}
		m |= 1 << id
	}
	return m, nil
}

// Has tells whether the node is in the set.
func (m Mask) Has(id int) bool { return id >= 0 && id <= MaxNodeID && m>>id&1 == 1 }

// Count is the number of nodes in the set.
func (m Mask) Count() int { return bits.OnesCount64(uint64(m)) }

// Contains tells whether every node of other is in m.
func (m Mask) Contains(other Mask) bool { return m&other == other }

// Nodes are the ids of the set, ascending.
func (m Mask) Nodes() []int {
	nodes := make([]int, 0, m.Count())
	for id := range m.All() {
		nodes = append(nodes, id)
	}
	return nodes
}

// All yields the ids of the set, ascending.
func (m Mask) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for rest := uint64(m); rest != 0; rest &= rest - 1 {
			if !yield(bits.TrailingZeros64(rest)) {
				return
			}
		}
	}
}

// Narrower orders masks by their number of nodes, then by their value, so that
// lower-numbered nodes come first.
// kubelet v1.37: cm/topologymanager/bitmask/bitmask.go IsNarrowerThan
func (m Mask) Narrower(other Mask) bool {
	if m.Count() != other.Count() {
		return m.Count() < other.Count()
	}
	return m < other
}

// String lists the ids, such as "0,1"; the empty mask is "any".
func (m Mask) String() string {
	if m == 0 {
		return "any"
	}
	ids := make([]string, 0, m.Count())
	for id := range m.All() {
		ids = append(ids, strconv.Itoa(id))
	}
	return strings.Join(ids, ",")
}

// maxEnumerated is the number of NUMA nodes up to which all sets of them are
// enumerated: four million. The kubelet has no bound; some doublings above it
// needs hours and all memory.
const maxEnumerated = 22

// Enumerable is a *CrashError when the kubelet's manager would crash on the sets
// of those NUMA nodes, or not come to an end over them.
func Enumerable(manager string, nodes []int) error {
	if len(nodes) > maxEnumerated {
		return &CrashError{
			Message: "the kubelet does not come to an end",
			Why:     fmt.Sprintf("the %s manager goes through all sets of %d NUMA nodes", manager, len(nodes)),
		}
	}
	for _, id := range nodes {
		if id > MaxNodeID {
			return &CrashError{
				Message: "runtime error: invalid memory address or nil pointer dereference",
				Why:     fmt.Sprintf("NUMA node %d does not fit a mask of 64 nodes, and the %s manager goes on without one", id, manager),
			}
		}
	}
	return nil
}

// Subsets yields every non-empty subset of the nodes, by size and then in
// lexicographic order of the nodes as given: the order in which the kubelet's
// managers look for hints. The ids must fit a Mask.
// kubelet v1.37: cm/topologymanager/bitmask/bitmask.go IterateBitMasks
func Subsets(nodes []int) iter.Seq[Mask] {
	return func(yield func(Mask) bool) {
		var choose func(from, missing int, chosen Mask) bool
		choose = func(from, missing int, chosen Mask) bool {
			if missing == 0 {
				return yield(chosen)
			}
			for i := from; i <= len(nodes)-missing; i++ {
				if !choose(i+1, missing-1, chosen|1<<nodes[i]) {
					return false
				}
			}
			return true
		}
		for size := 1; size <= len(nodes); size++ {
			if !choose(0, size, 0) {
				return
			}
		}
	}
}
