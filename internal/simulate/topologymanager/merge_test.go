package topologymanager

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/internal/kubelet"
)

// enumerate merges as the kubelet does, over the product of the lists.
func enumerate(lists [][]Hint, all Mask, o order) (Hint, error) {
	var best Hint
	var failed error
	var walk func(i int, and, first Mask, preferred bool)
	walk = func(i int, and, first Mask, preferred bool) {
		if failed != nil {
			return
		}
		if i == len(lists) {
			candidate := Hint{and, preferred}
			replace, err := o.better(best, candidate)
			if failed = err; replace {
				best = candidate
			}
			return
		}
		for _, h := range lists[i] {
			switch {
			case h.Affinity == 0:
				walk(i+1, and, first, preferred && h.Preferred)
			case first == 0:
				walk(i+1, and&h.Affinity, h.Affinity, preferred && h.Preferred)
			default:
				walk(i+1, and&h.Affinity, first, preferred && h.Preferred && h.Affinity == first)
			}
		}
	}
	walk(0, all, 0, true)
	if best.Affinity == 0 {
		best = Hint{all, false}
	}
	return best, failed
}

func drawLists(t *rapid.T, nodes []int) [][]Hint {
	all, _ := MaskOf(nodes...)
	mask := rapid.Custom(func(t *rapid.T) Mask { return unpack(Mask(rapid.Uint64Range(0, 1<<len(nodes)-1).Draw(t, "mask")), all) })
	hint := rapid.Custom(func(t *rapid.T) Hint { return Hint{mask.Draw(t, "affinity"), rapid.Bool().Draw(t, "preferred")} })
	return rapid.SliceOfN(rapid.SliceOfN(hint, 0, 5), 0, 4).Draw(t, "lists")
}

// The fold chooses what the scan over all combinations chooses, with and
// without distances, and crashes where that crashes.
func TestMergeIsTheScan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SampledFrom([][]int{{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}, {0, 2}, {1, 3, 6}, {0, 1, 2, 3, 4}}).Draw(t, "nodes")
		lists := drawLists(t, nodes)
		all, _ := MaskOf(nodes...)
		o := order{target: target(lists)}
		if rapid.Bool().Draw(t, "closest") {
			o.distances = map[int][]int{}
			for _, id := range nodes {
				o.distances[id] = rapid.SliceOfN(rapid.IntRange(10, 13), len(nodes), len(nodes)).Draw(t, "distances")
			}
		}
		want, wantErr := enumerate(lists, all, o)
		got, err := merge(lists, all, o)
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("lists %v: error %v, want %v", lists, err, wantErr)
		}
		if err == nil && got != want {
			t.Fatalf("lists %v: got %v, want %v", lists, got, want)
		}
	})
}

// The convolution reaches what intersecting all pairs reaches.
func TestConvolveIsPairwise(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		masks := rapid.SliceOfDistinct(rapid.Custom(func(t *rapid.T) Mask { return Mask(rapid.Uint64Range(0, 1<<n-1).Draw(t, "mask")) }), rapid.ID)
		a, b := masks.Draw(t, "a"), masks.Draw(t, "b")
		set := map[Mask]bool{}
		for _, m := range pairwise(a, b, n) {
			set[m] = true
		}
		got := map[Mask]bool{}
		for _, m := range convolve(a, b, n) {
			got[m] = true
		}
		if diff := cmp.Diff(set, got); diff != "" {
			t.Fatalf("(-pairwise +convolve):\n%s", diff)
		}
	})
}

func TestMerge(t *testing.T) {
	t.Parallel()
	h := func(p bool, ids ...int) Hint { m, _ := MaskOf(ids...); return Hint{m, p} }
	tests := []struct {
		name   string
		policy string
		lists  [][]Hint
		want   Hint
		admit  bool
	}{
		{"nobody minds", kubelet.TopologyPolicyRestricted, [][]Hint{{h(true)}, {h(true)}}, h(true, 0, 1), true},
		{"nobody minds, single", kubelet.TopologyPolicySingleNUMANode, [][]Hint{{h(true)}}, h(true), true},
		{"agreement", kubelet.TopologyPolicyRestricted, [][]Hint{{h(true, 0), h(true, 1)}, {h(true, 1)}}, h(true, 1), true},
		{"containment is no agreement", kubelet.TopologyPolicyRestricted, [][]Hint{{h(true, 0)}, {h(true, 0, 1)}}, h(false, 0), false},
		{"best effort takes it", kubelet.TopologyPolicyBestEffort, [][]Hint{{h(true, 0)}, {h(true, 0, 1)}}, h(false, 0), true},
		{"wider than needed", kubelet.TopologyPolicyRestricted, [][]Hint{{h(false, 0, 1)}}, h(false, 0, 1), false},
		{"impossible", kubelet.TopologyPolicyBestEffort, [][]Hint{{h(false)}, {h(true, 0)}}, h(false, 0), true},
		{"disjoint", kubelet.TopologyPolicyBestEffort, [][]Hint{{h(true, 0)}, {h(true, 1)}}, h(false, 0, 1), true},
		{"single leaves wider ones out", kubelet.TopologyPolicySingleNUMANode, [][]Hint{{h(true, 0, 1)}}, h(false), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := &Manager{policy: test.policy, nodes: 3}
			got, admit, err := m.choose(test.lists)
			if err != nil || got != test.want || admit != test.admit {
				t.Errorf("got %v %t %v, want %v %t", got, admit, err, test.want, test.admit)
			}
		})
	}
}

// full is every hint that a provider can give on n nodes, with preference for
// those of the given size.
func full(n, preferred int) []Hint {
	var nodes []int
	for i := range n {
		nodes = append(nodes, i)
	}
	var hints []Hint
	for m := range Subsets(nodes) {
		hints = append(hints, Hint{m, m.Count() == preferred})
	}
	return hints
}

// Sixteen nodes and five lists that never agree stay far below the seconds that
// the product of 2⁸⁰ combinations would need.
func TestMergeOfManyNodesIsQuick(t *testing.T) {
	t.Parallel()
	var lists [][]Hint
	for i := range 5 {
		lists = append(lists, full(16, 1+i%2))
	}
	start := time.Now()
	if _, err := merge(lists, 1<<16-1, order{target: target(lists)}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}

func BenchmarkMerge(b *testing.B) {
	for _, n := range []int{2, 4, 8, 16} {
		for count := 1; count <= 5; count++ {
			for name, step := range map[string]int{"agree": 0, "disagree": 1} {
				var lists [][]Hint
				for i := range count {
					lists = append(lists, full(n, 1+i%2*step))
				}
				b.Run(fmt.Sprintf("%dnodes/%dlists/%s", n, count, name), func(b *testing.B) {
					o := order{target: target(lists)}
					for b.Loop() {
						if _, err := merge(lists, 1<<n-1, o); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
