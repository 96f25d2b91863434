package topologymanager

import "iter"

// maxDense is the number of NUMA nodes up to which a set of masks is a table
// over all of them: 2²⁰ entries.
const maxDense = 20

// intersections are the masks that choosing one mask from each list and
// intersecting them with all can give, each once. A hint without affinity is
// all nodes. Without any hint in a list there is none.
func intersections(lists [][]Hint, all Mask) []Mask {
	n := all.Count()
	reached := []Mask{pack(all, all)}
	for _, list := range lists {
		offered := distinct(list, all)
		if n <= maxDense && len(reached)*len(offered) > 3*n<<n {
			reached = convolve(reached, offered, n)
		} else {
			reached = pairwise(reached, offered, n)
		}
	}
	for i, m := range reached {
		reached[i] = unpack(m, all)
	}
	return reached
}

// pack moves the bits of m that are in all together, so that masks are indexes
// of a table over all subsets; their order stays.
func pack(m, all Mask) Mask {
	if all&(all+1) == 0 {
		return m & all
	}
	var packed Mask
	at := 0
	for id := range all.All() {
		if m.Has(id) {
			packed |= 1 << at
		}
		at++
	}
	return packed
}

// unpack takes pack back.
func unpack(m, all Mask) Mask {
	if all&(all+1) == 0 {
		return m
	}
	var wide Mask
	for id := range all.All() {
		if m&1 == 1 {
			wide |= 1 << id
		}
		m >>= 1
	}
	return wide
}

func distinct(list []Hint, all Mask) []Mask {
	n := all.Count()
	set := newMaskSet(n)
	for _, h := range list {
		m := h.Affinity
		if m == 0 {
			m = all
		}
		set.add(pack(m, all))
	}
	return set.members
}

// pairwise intersects each mask of a with each of b.
func pairwise(a, b []Mask, n int) []Mask {
	set := newMaskSet(n)
	for _, x := range a {
		for _, y := range b {
			set.add(x & y)
		}
	}
	return set.members
}

// convolve is pairwise in n·2ⁿ steps: counting for each mask the pairs whose
// members both contain it gives the pairs whose intersection contains it, and
// taking out the larger ones leaves those whose intersection it is.
func convolve(a, b []Mask, n int) []Mask {
	x, y := make([]uint64, 1<<n), make([]uint64, 1<<n)
	for _, m := range a {
		x[m] = 1
	}
	for _, m := range b {
		y[m] = 1
	}
	for without, with := range halves(x) {
		for i := range without {
			without[i] += with[i]
		}
	}
	for without, with := range halves(y) {
		for i := range without {
			without[i] += with[i]
		}
	}
	for i := range x {
		x[i] *= y[i]
	}
	for without, with := range halves(x) {
		for i := range without {
			without[i] -= with[i]
		}
	}
	var masks []Mask
	for i, pairs := range x {
		if pairs != 0 {
			masks = append(masks, Mask(i))
		}
	}
	return masks
}

// halves yields, bit by bit, the runs of entries whose masks lack the bit beside
// those of the same masks with it.
func halves(table []uint64) iter.Seq2[[]uint64, []uint64] {
	return func(yield func(without, with []uint64) bool) {
		for bit := 1; bit < len(table); bit <<= 1 {
			for at := 0; at < len(table); at += 2 * bit {
				if !yield(table[at:at+bit], table[at+bit:at+2*bit]) {
					return
				}
			}
		}
	}
}

// maskSet holds masks of n bits once each, in the order of their adding.
type maskSet struct {
	members []Mask
	dense   []uint64
	sparse  map[Mask]bool
}

func newMaskSet(n int) *maskSet {
	if n <= maxDense {
		return &maskSet{dense: make([]uint64, (1<<n)/64+1)}
	}
	return &maskSet{sparse: map[Mask]bool{}}
}

func (s *maskSet) add(m Mask) {
	if s.sparse != nil {
		if s.sparse[m] {
			return
		}
		s.sparse[m] = true
	} else {
		word, bit := m/64, uint64(1)<<(m%64)
		if s.dense[word]&bit != 0 {
			return
		}
		s.dense[word] |= bit
	}
	s.members = append(s.members, m)
}
