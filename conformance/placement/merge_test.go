package placement

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/oracle/gates"
	"github.com/kqos/kqos/conformance/oracle/placement"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// offer is a provider of kqos with fixed hints.
type offer struct{ hints topologymanager.Hints }

func (o offer) Name() string { return "offer" }

func (o offer) Hints(*corev1.Pod, *corev1.Container) (topologymanager.Hints, error) {
	return o.hints, nil
}

func (o offer) PodHints(*corev1.Pod) (topologymanager.Hints, error) { return o.hints, nil }

func (offer) Allocate(*corev1.Pod, *corev1.Container, topologymanager.Hint) error { return nil }

func (offer) AllocatePod(*corev1.Pod, topologymanager.Hint) error { return nil }

func ours(t check.TB, in placement.Merge) *topologymanager.Manager {
	c := topologymanager.Config{Gates: kubelet.DefaultGates(check.Minor(t)), Policy: in.Policy, Scope: kubelet.TopologyScopeContainer, Options: in.Options()}
	for i, id := range in.IDs {
		c.Nodes = append(c.Nodes, machine.Node{ID: id, Distances: in.Distances[i]})
	}
	m, err := topologymanager.New(c)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for i, list := range in.Lists {
		var hints []topologymanager.Hint
		if list != nil {
			hints = []topologymanager.Hint{}
		}
		for _, h := range list {
			mask, err := topologymanager.MaskOf(h.Nodes...)
			if err != nil {
				t.Fatalf("%v", err)
			}
			hints = append(hints, topologymanager.Hint{Affinity: mask, Preferred: h.Preferred})
		}
		m.Providers = append(m.Providers, offer{topologymanager.Hints{fmt.Sprintf("r%d", i): hints}})
	}
	return m
}

func askKqos(m *topologymanager.Manager) placement.Outcome {
	verdict := m.Admit(placement.MergePod())
	o := placement.Outcome{Admitted: verdict.Admitted, Message: verdict.Message}
	if verdict.Crash != nil {
		o.Message = placement.Crashed
	}
	if best, ok := verdict.Affinity["c"]; verdict.Admitted && ok {
		o.Preferred = best.Preferred
		if best.Affinity != 0 {
			o.Nodes = best.Affinity.Nodes()
		}
	}
	return o
}

// anyMerge draws merges with hints that no real provider may offer.
func anyMerge() *rapid.Generator[placement.Merge] {
	return rapid.Custom(func(t *rapid.T) placement.Merge {
		in := placement.Merge{
			Policy:  rapid.SampledFrom([]string{"best-effort", "restricted", "single-numa-node"}).Draw(t, "policy"),
			Closest: rapid.Bool().Draw(t, "closest"),
			IDs:     rapid.SampledFrom([][]int{{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}, {0, 2}, {1, 3, 4}}).Draw(t, "ids"),
		}
		for i := range in.IDs {
			row := make([]int, len(in.IDs))
			for j := range row {
				row[j] = rapid.SampledFrom([]int{10, 11, 20, 21, 32}).Draw(t, "distance")
			}
			row[i] = 10
			in.Distances = append(in.Distances, row)
		}
		for range rapid.IntRange(1, 4).Draw(t, "lists") {
			if rapid.IntRange(0, 9).Draw(t, "no list") == 0 {
				in.Lists = append(in.Lists, nil)
				continue
			}
			list := []placement.Hint{}
			for range rapid.IntRange(0, 5).Draw(t, "hints") {
				h := placement.Hint{Preferred: rapid.Bool().Draw(t, "preferred")}
				if rapid.IntRange(0, 9).Draw(t, "any") > 0 {
					h.Nodes = rapid.SliceOfNDistinct(rapid.SampledFrom(in.IDs), 1, len(in.IDs), rapid.ID).Draw(t, "nodes")
				}
				list = append(list, h)
			}
			in.Lists = append(in.Lists, list)
		}
		return in
	})
}

func TestMerge(t *testing.T) {
	if err := gates.Set(nil); err != nil {
		t.Fatal(err)
	}
	check.Property(t, 20000, func(t *rapid.T) {
		in := anyMerge().Draw(t, "merge")
		want, err := placement.MergeHints(in)
		if err != nil {
			t.Fatalf("%v", err)
		}
		check.Equal(t, in, want, askKqos(ours(t, in)))
	})
}

// BenchmarkMerge is one admission with three providers that each offer every
// set of nodes that is wide enough: in agreement, and needing different widths.
func BenchmarkMerge(b *testing.B) {
	check.Quiet()
	if err := gates.Set(nil); err != nil {
		b.Fatal(err)
	}
	for _, nodes := range []int{2, 4, 6} {
		for name, widths := range map[string][]int{"agree": {1, 1, 1}, "disagree": {1, 2, 1}} {
			in := wideMerge(nodes, widths)
			b.Run(fmt.Sprintf("%dnodes/%s/side=kubelet", nodes, name), func(b *testing.B) {
				m, err := placement.NewMerger(in)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					m.Admit()
				}
			})
			b.Run(fmt.Sprintf("%dnodes/%s/side=kqos", nodes, name), func(b *testing.B) {
				m := ours(b, in)
				for b.Loop() {
					askKqos(m)
				}
			})
		}
	}
}

// wideMerge has one list for each width: all sets of at least that many nodes,
// of which those of exactly that many are preferred.
func wideMerge(nodes int, widths []int) placement.Merge {
	in := placement.Merge{Policy: "best-effort"}
	for id := range nodes {
		in.IDs = append(in.IDs, id)
		in.Distances = append(in.Distances, make([]int, nodes))
	}
	for _, width := range widths {
		var list []placement.Hint
		for set := 1; set < 1<<nodes; set++ {
			var ids []int
			for id := range nodes {
				if set>>id&1 == 1 {
					ids = append(ids, id)
				}
			}
			if len(ids) >= width {
				list = append(list, placement.Hint{Nodes: ids, Preferred: len(ids) == width})
			}
		}
		in.Lists = append(in.Lists, list)
	}
	return in
}
