package topologymanager

import "slices"

// Merge is the hint that the kubelet chooses among all combinations of one hint
// from each list, found without enumerating them: a list costs at most in the
// order of n·2ⁿ steps for n NUMA nodes.
//
// A combination is preferred when all its hints are and their masks agree, and
// stands for the intersection of its masks. The kubelet's comparison is a total
// order of (mask, preferred), so only the set of those pairs matters. Preferred
// beats not preferred; so the masks that are preferred in every list decide, if
// there are any, and else the set of all intersections that can be reached.
//
// kubelet v1.37: cm/topologymanager/policy.go Merge, mergePermutation.
func merge(lists [][]Hint, all Mask, o order) (Hint, error) {
	candidates := []Hint{}
	if o.gaps(all) {
		candidates = inScanOrder(lists, all)
	} else {
		for _, m := range agreed(lists, all) {
			candidates = append(candidates, Hint{m, true})
		}
		if len(candidates) == 0 {
			for _, m := range intersections(lists, all) {
				candidates = append(candidates, Hint{m, false})
			}
		}
	}
	best, err := o.best(candidates)
	if err != nil {
		return Hint{}, err
	}
	if best.Affinity == 0 {
		return Hint{all, false}, nil
	}
	return best, nil
}

// target is the size that an unpreferred hint should have.
// kubelet v1.37: cm/topologymanager/policy.go maxOfMinAffinityCounts
func target(lists [][]Hint) int {
	largest := 0
	for _, list := range lists {
		smallest := 0
		for _, h := range list {
			if n := h.Affinity.Count(); n > 0 && (smallest == 0 || n < smallest) {
				smallest = n
			}
		}
		largest = max(largest, smallest)
	}
	return largest
}

// agreement are the masks on which the lists so far agree with preference.
type agreement struct {
	// any is true while every list offers "no preference" as preferred, so that
	// a further list may still choose freely.
	any   bool
	masks []Mask
}

// with adds a list.
func (a agreement) with(list []Hint) agreement {
	free := false
	offered := map[Mask]bool{}
	for _, h := range list {
		if h.Preferred && h.Affinity == 0 {
			free = true
		} else if h.Preferred {
			offered[h.Affinity] = true
		}
	}
	next := agreement{any: a.any && free}
	for _, m := range a.masks {
		if free || offered[m] {
			next.masks = append(next.masks, m)
			delete(offered, m)
		}
	}
	if a.any {
		for _, h := range list {
			if h.Preferred && offered[h.Affinity] {
				next.masks = append(next.masks, h.Affinity)
				delete(offered, h.Affinity)
			}
		}
	}
	return next
}

// agreed are the masks of all preferred combinations, as far as they keep a
// node of the machine.
func agreed(lists [][]Hint, all Mask) []Mask {
	a := agreement{any: true}
	for _, list := range lists {
		a = a.with(list)
	}
	var masks []Mask
	if a.any {
		masks = append(masks, all)
	}
	for _, m := range a.masks {
		if m&all != 0 {
			masks = append(masks, m&all)
		}
	}
	return masks
}

// inScanOrder are the merged hints of all combinations, each once, in the order
// in which the kubelet's scan first meets them. It costs up to 2²ⁿ steps a list
// and is needed only where the order decides whether the kubelet crashes.
func inScanOrder(lists [][]Hint, all Mask) []Hint {
	type state struct {
		and, mask Mask
		agreed    bool
	}
	rest := []state{{and: all, agreed: true}}
	for _, list := range slices.Backward(lists) {
		seen := map[state]bool{}
		var next []state
		for _, h := range list {
			for _, s := range rest {
				s.agreed = s.agreed && h.Preferred && (h.Affinity == 0 || s.mask == 0 || h.Affinity == s.mask)
				if h.Affinity != 0 {
					s.and, s.mask = s.and&h.Affinity, h.Affinity
				}
				if !s.agreed {
					s.mask = 0
				}
				if !seen[s] {
					seen[s] = true
					next = append(next, s)
				}
			}
		}
		rest = next
	}
	hints := make([]Hint, len(rest))
	for i, s := range rest {
		hints[i] = Hint{s.and, s.agreed}
	}
	return hints
}
