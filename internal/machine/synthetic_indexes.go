package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// numbersOf gives, for the kinds whose word has indexes=…, the kernel's number
// of each object in logical order.
func numbersOf(levels []level) (map[string][]int, error) {
	numbers := map[string][]int{}
	for _, l := range levels {
		if l.indexes == "" || numbers[l.kind] != nil {
			continue
		}
		n, err := l.numbers(levels)
		if err != nil {
			return nil, fmt.Errorf("indexes=%s: %w", l.indexes, err)
		}
		numbers[l.kind] = n
	}
	return numbers, nil
}

// loop is one term of an interleaved numbering: every step objects the number
// counts on, count times.
type loop struct{ step, count int }

// numbers reads the three forms of hwloc: "0,2,1,3" lists the numbers,
// "4*2:1*4" gives steps and counts from the fastest to the slowest, and
// "core:pu" names levels in that order.
func (l level) numbers(levels []level) ([]int, error) {
	if !strings.ContainsAny(l.indexes, "*:") && strings.ContainsAny(l.indexes, "0123456789") {
		return l.listed()
	}
	var loops []loop
	product := 1
	for term := range strings.SplitSeq(l.indexes, ":") {
		next, err := l.loop(term, levels)
		if err != nil {
			return nil, err
		}
		if next.count < 1 || product > l.total/next.count {
			return nil, fmt.Errorf("%s: counts more than the %d objects", term, l.total)
		}
		product *= next.count
		loops = append(loops, next)
	}
	if l.total%product != 0 {
		return nil, fmt.Errorf("covers %d of %d objects", product, l.total)
	}
	if product < l.total {
		loops = append(loops, loop{1, l.total / product})
	}
	numbers := make([]int, l.total)
	scale := 1
	for _, o := range loops {
		for i := range numbers {
			numbers[i] += i / o.step % o.count * scale
		}
		scale *= o.count
	}
	return numbers, distinct(numbers)
}

func (l level) listed() ([]int, error) {
	var numbers []int
	for term := range strings.SplitSeq(l.indexes, ",") {
		n, err := parseID(term)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	if len(numbers) != l.total {
		return nil, fmt.Errorf("%d numbers for %d objects", len(numbers), l.total)
	}
	return numbers, distinct(numbers)
}

func (l level) loop(term string, levels []level) (loop, error) {
	if step, count, ok := strings.Cut(term, "*"); ok {
		s, err1 := strconv.Atoi(step)
		c, err2 := strconv.Atoi(count)
		if err1 != nil || err2 != nil || s < 1 || c < 1 {
			return loop{}, fmt.Errorf("%s: not STEP*COUNT", term)
		}
		return loop{s, c}, nil
	}
	kind, ok := kindOf(term)
	i := slices.IndexFunc(levels, func(o level) bool { return o.kind == kind && !o.attached })
	if !ok || i < 0 || levels[i].total > l.total {
		return loop{}, fmt.Errorf("%s: not a level of the machine", term)
	}
	// How many of the kind stand in each object of the next outer level named.
	outer := 1
	for other := range strings.SplitSeq(l.indexes, ":") {
		kind, _ := kindOf(other)
		for j := range i {
			if levels[j].kind == kind {
				outer = max(outer, levels[j].total)
			}
		}
	}
	return loop{l.total / levels[i].total, levels[i].total / outer}, nil
}

func distinct(numbers []int) error {
	sorted := slices.Sorted(slices.Values(numbers))
	if len(slices.Compact(sorted)) != len(numbers) {
		return fmt.Errorf("gives a number twice")
	}
	return nil
}
