package cpumanager

import (
	"iter"
	"math/bits"
	"slices"
)

const wordBits = 64

// set is a set of CPUs by their position in a Topology. Sets of one topology
// have equal length. The allocator works on these: a cpuset.CPUSet is a map.
type set []uint64

func newSet(cpus int) set { return make(set, (cpus+wordBits-1)/wordBits) }

func (s set) add(cpu int)      { s[cpu/wordBits] |= 1 << (cpu % wordBits) }
func (s set) remove(cpu int)   { s[cpu/wordBits] &^= 1 << (cpu % wordBits) }
func (s set) has(cpu int) bool { return s[cpu/wordBits]>>(cpu%wordBits)&1 == 1 }
func (s set) clone() set       { return slices.Clone(s) }

func (s set) count() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// all yields the CPUs, ascending.
func (s set) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(i*wordBits + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

func (s set) union(other set) set {
	return s.combine(other, func(a, b uint64) uint64 { return a | b })
}

func (s set) intersect(other set) set {
	return s.combine(other, func(a, b uint64) uint64 { return a & b })
}

func (s set) minus(other set) set {
	return s.combine(other, func(a, b uint64) uint64 { return a &^ b })
}

func (s set) combine(other set, f func(a, b uint64) uint64) set {
	result := make(set, len(s))
	for i := range s {
		result[i] = f(s[i], other[i])
	}
	return result
}

// meets tells whether some CPU is in all three sets.
func meets(a, b, c set) bool {
	for i := range a {
		if a[i]&b[i]&c[i] != 0 {
			return true
		}
	}
	return false
}
