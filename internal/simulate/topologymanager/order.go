package topologymanager

import "fmt"

// order ranks merged hints as the kubelet's scan over all combinations does.
// The ranking is total, so the winner does not depend on the order of the scan.
type order struct {
	// target is the largest, over the lists, of the smallest mask of a list:
	// an unpreferred hint should have that many nodes.
	target int
	// distances by node id; nil unless prefer-closest-numa-nodes holds.
	distances map[int][]int
}

// better tells whether candidate replaces current; an empty current is none.
// kubelet v1.37: cm/topologymanager/policy.go compare
func (o order) better(current, candidate Hint) (bool, error) {
	switch {
	case candidate.Affinity == 0:
		return false, nil
	case current.Affinity == 0:
		return true, nil
	case current.Preferred != candidate.Preferred:
		return candidate.Preferred, nil
	case current.Preferred:
		return o.fitter(candidate.Affinity, current.Affinity)
	}
	have, offered := current.Affinity.Count(), candidate.Affinity.Count()
	switch {
	case have == offered || have > o.target:
		return o.fitter(candidate.Affinity, current.Affinity)
	case have == o.target || offered > o.target:
		return false, nil
	}
	return offered > have, nil
}

// fitter tells whether a is the narrower mask or, with distances and of equal
// size, the one whose nodes are closer together.
// kubelet v1.37: cm/topologymanager/numa_info.go Closest
func (o order) fitter(a, b Mask) (bool, error) {
	if o.distances == nil || a == b || a.Count() != b.Count() {
		return a.Narrower(b), nil
	}
	near, err := o.average(a)
	if err != nil {
		return false, err
	}
	far, err := o.average(b)
	if err != nil {
		return false, err
	}
	if near == far {
		return a < b, nil
	}
	return near < far, nil
}

// average is the mean distance over all ordered pairs of the nodes, each with
// itself included. The kubelet looks the distance to a node up by its id, in a
// list that has one member a node: with gaps in the numbering it crashes.
// kubelet v1.37: cm/topologymanager/numa_info.go CalculateAverageFor
func (o order) average(m Mask) (float64, error) {
	var sum, count float64
	for from := range m.All() {
		for to := range m.All() {
			row := o.distances[from]
			if to >= len(row) {
				return 0, &CrashError{
					Message: fmt.Sprintf("runtime error: index out of range [%d] with length %d", to, len(row)),
					Why: fmt.Sprintf("with prefer-closest-numa-nodes the distance from NUMA node %d to node %d is looked up by node id, but the node lists %d distances",
						from, to, len(row)),
				}
			}
			sum += float64(row[to])
			count++
		}
	}
	return sum / count, nil
}

// gaps tells whether some lookup of a distance would crash.
func (o order) gaps(nodes Mask) bool {
	_, err := o.average(nodes)
	return o.distances != nil && err != nil
}

// best scans candidates; without any, the result has no affinity.
func (o order) best(candidates []Hint) (Hint, error) {
	var best Hint
	for _, c := range candidates {
		replace, err := o.better(best, c)
		if err != nil {
			return Hint{}, err
		}
		if replace {
			best = c
		}
	}
	return best, nil
}
