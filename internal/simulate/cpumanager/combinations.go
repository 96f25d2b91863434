package cpumanager

// combinations calls visit with every choice of k of the nodes, in order,
// until it returns false.
//
// The slices that it hands out share memory exactly as those of the kubelet,
// which builds them with append: a choice that visit keeps changes when a later
// one is made on the same buffer. That decides which NUMA nodes the kubelet
// uses in the end, on machines with five or more of them.
// kubelet v1.37: cm/cpumanager/cpu_assignment.go iterateCombinations
func combinations(nodes []int, k int, visit func(chosen []int) bool) {
	if k < 1 {
		return
	}
	var choose func(from, missing int, chosen []int) bool
	choose = func(from, missing int, chosen []int) bool {
		if missing == 0 {
			return visit(chosen)
		}
		for i := from; i <= len(nodes)-missing; i++ {
			if !choose(i+1, missing-1, extend(chosen, nodes[i])) {
				return false
			}
		}
		return true
	}
	choose(0, k, nil)
}

// extend appends in place while the buffer has room, and else to a new one of
// twice the room. Go's append does the same with a slice of ints that began
// empty, but only by the grace of the compiler.
func extend(chosen []int, node int) []int {
	n := len(chosen)
	if n&(n-1) == 0 {
		chosen = append(make([]int, 0, max(1, 2*n)), chosen...)
	}
	return append(chosen, node)
}
