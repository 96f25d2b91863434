package placement

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	kubelettopology "k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager/bitmask"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/oracle/cadvisor"
	"github.com/kqos/kqos/conformance/oracle/gates"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// merge is one merge of hints: each provider offers one list for a resource.
type merge struct {
	Policy    string   `json:"policy"`
	Closest   bool     `json:"closest"`
	IDs       []int    `json:"ids"`
	Distances [][]int  `json:"distances"`
	Lists     [][]hint `json:"lists"`
}

// hint has no nodes where it says "no preference".
type hint struct {
	Nodes     []int `json:"nodes"`
	Preferred bool  `json:"preferred"`
}

// outcome is what the topology manager says.
type outcome struct {
	Admitted  bool   `json:"admitted"`
	Message   string `json:"message,omitempty"`
	Nodes     []int  `json:"nodes,omitempty"`
	Preferred bool   `json:"preferred,omitempty"`
}

func (in merge) options() map[string]string {
	options := map[string]string{"max-allowable-numa-nodes": "64"}
	if in.Closest {
		options["prefer-closest-numa-nodes"] = "true"
	}
	return options
}

// offers is a provider of the kubelet with fixed hints.
type offers struct {
	hints map[string][]kubelettopology.TopologyHint
}

func (o offers) GetTopologyHints(klog.Logger, *corev1.Pod, *corev1.Container, lifecycle.Operation) map[string][]kubelettopology.TopologyHint {
	return o.hints
}

func (o offers) GetPodTopologyHints(klog.Logger, *corev1.Pod, lifecycle.Operation) map[string][]kubelettopology.TopologyHint {
	return o.hints
}

func (offers) AllocatePod(klog.Logger, *corev1.Pod, lifecycle.Operation) error { return nil }

func (offers) Allocate(context.Context, *corev1.Pod, *corev1.Container, lifecycle.Operation) error {
	return nil
}

func (in merge) theirs(t check.TB) kubelettopology.Manager {
	var nodes []cadvisor.Node
	for i, id := range in.IDs {
		n := cadvisor.Node{Id: id}
		for _, d := range in.Distances[i] {
			n.Distances = append(n.Distances, uint64(d))
		}
		nodes = append(nodes, n)
	}
	m, err := kubelettopology.NewManager(klog.Background(), nodes, in.Policy, "container", in.options())
	if err != nil {
		t.Fatalf("%v", err)
	}
	for i, list := range in.Lists {
		hints := []kubelettopology.TopologyHint{}
		for _, h := range list {
			offered := kubelettopology.TopologyHint{Preferred: h.Preferred}
			if h.Nodes != nil {
				if offered.NUMANodeAffinity, err = bitmask.NewBitMask(h.Nodes...); err != nil {
					t.Fatalf("%v", err)
				}
			}
			hints = append(hints, offered)
		}
		if list == nil {
			hints = nil
		}
		m.AddHintProvider(klog.Background(), offers{map[string][]kubelettopology.TopologyHint{fmt.Sprintf("r%d", i): hints}})
	}
	return m
}

func mergePod() *corev1.Pod {
	p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}
	p.Name, p.UID = "p", "p"
	return p
}

// crashed stands for the kubelet's end, whatever its words.
const crashed = "the kubelet crashes"

func askKubelet(m kubelettopology.Manager) (o outcome) {
	defer func() {
		if recover() != nil {
			o = outcome{Message: crashed}
		}
	}()
	verdict := m.Admit(context.Background(), &lifecycle.PodAdmitAttributes{Pod: mergePod(), Operation: lifecycle.AddOperation})
	o = outcome{Admitted: verdict.Admit, Message: verdict.Message}
	if verdict.Admit {
		best := m.GetAffinity(klog.Background(), "p", "c")
		o.Preferred = best.Preferred
		if best.NUMANodeAffinity != nil {
			o.Nodes = best.NUMANodeAffinity.GetBits()
		}
	}
	return o
}

// offer is a provider of kqos with fixed hints.
type offer struct{ hints topologymanager.Hints }

func (o offer) Name() string { return "offer" }

func (o offer) Hints(*corev1.Pod, *corev1.Container) (topologymanager.Hints, error) {
	return o.hints, nil
}

func (o offer) PodHints(*corev1.Pod) (topologymanager.Hints, error) { return o.hints, nil }

func (offer) Allocate(*corev1.Pod, *corev1.Container, topologymanager.Hint) error { return nil }

func (offer) AllocatePod(*corev1.Pod, topologymanager.Hint) error { return nil }

func (in merge) ours(t check.TB) *topologymanager.Manager {
	c := topologymanager.Config{Policy: in.Policy, Scope: kubelet.TopologyScopeContainer, Options: in.options()}
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

func askKqos(m *topologymanager.Manager) outcome {
	verdict := m.Admit(mergePod())
	o := outcome{Admitted: verdict.Admitted, Message: verdict.Message}
	if verdict.Crash != nil {
		o.Message = crashed
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
func anyMerge() *rapid.Generator[merge] {
	return rapid.Custom(func(t *rapid.T) merge {
		in := merge{
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
			list := []hint{}
			for range rapid.IntRange(0, 5).Draw(t, "hints") {
				h := hint{Preferred: rapid.Bool().Draw(t, "preferred")}
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
		check.Equal(t, in, askKubelet(in.theirs(t)), askKqos(in.ours(t)))
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
				m := in.theirs(b)
				for b.Loop() {
					askKubelet(m)
				}
			})
			b.Run(fmt.Sprintf("%dnodes/%s/side=kqos", nodes, name), func(b *testing.B) {
				m := in.ours(b)
				for b.Loop() {
					askKqos(m)
				}
			})
		}
	}
}

// wideMerge has one list for each width: all sets of at least that many nodes,
// of which those of exactly that many are preferred.
func wideMerge(nodes int, widths []int) merge {
	in := merge{Policy: "best-effort"}
	for id := range nodes {
		in.IDs = append(in.IDs, id)
		in.Distances = append(in.Distances, make([]int, nodes))
	}
	for _, width := range widths {
		var list []hint
		for set := 1; set < 1<<nodes; set++ {
			var ids []int
			for id := range nodes {
				if set>>id&1 == 1 {
					ids = append(ids, id)
				}
			}
			if len(ids) >= width {
				list = append(list, hint{ids, len(ids) == width})
			}
		}
		in.Lists = append(in.Lists, list)
	}
	return in
}
