package placement

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager/bitmask"

	"github.com/kqos/kqos/conformance/older"
	"github.com/kqos/kqos/conformance/oracle/cadvisor"
	"github.com/kqos/kqos/conformance/oracle/node"
)

// Merge is one merge of hints: each provider offers one list for a resource.
type Merge struct {
	Policy    string   `json:"policy"`
	Closest   bool     `json:"closest"`
	IDs       []int    `json:"ids"`
	Distances [][]int  `json:"distances"`
	Lists     [][]Hint `json:"lists"`
}

// Hint has no nodes where it says "no preference".
type Hint struct {
	Nodes     []int `json:"nodes"`
	Preferred bool  `json:"preferred"`
}

// Outcome is what the topology manager says.
type Outcome struct {
	Admitted  bool   `json:"admitted"`
	Message   string `json:"message,omitempty"`
	Nodes     []int  `json:"nodes,omitempty"`
	Preferred bool   `json:"preferred,omitempty"`
}

// Crashed stands for the kubelet's end in a Message, whatever its words.
const Crashed = "the kubelet crashes"

// Options are topologyManagerPolicyOptions.
func (in Merge) Options() map[string]string {
	options := map[string]string{"max-allowable-numa-nodes": "64"}
	if in.Closest {
		options["prefer-closest-numa-nodes"] = "true"
	}
	return options
}

// MergePod is the pod that is admitted with the hints.
func MergePod() *v1.Pod {
	p := &v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c"}}}}
	p.Name, p.UID = "p", "p"
	return p
}

// MergeHints has the kubelet merge, under the gates as they are set.
func MergeHints(in Merge) (Outcome, error) {
	if older.Asked() {
		return older.Try[Outcome]("placement.MergeHints", in)
	}
	m, err := NewMerger(in)
	if err != nil {
		return Outcome{}, err
	}
	return m.Admit(), nil
}

// offers is a provider with fixed hints.
type offers struct {
	hints map[string][]topologymanager.TopologyHint
}

// Merger is a topology manager whose providers offer the same at any time.
type Merger struct{ kubelet }

// NewMerger makes it of the kubelet that is linked.
func NewMerger(in Merge) (*Merger, error) {
	var nodes []cadvisor.Node
	for i, id := range in.IDs {
		n := cadvisor.Node{Id: id}
		for _, d := range in.Distances[i] {
			n.Distances = append(n.Distances, uint64(d))
		}
		nodes = append(nodes, n)
	}
	manager, err := node.NewTopologyManager(nodes, in.Policy, "container", in.Options())
	if err != nil {
		return nil, err
	}
	for i, list := range in.Lists {
		var hints []topologymanager.TopologyHint
		if list != nil {
			hints = []topologymanager.TopologyHint{}
		}
		for _, h := range list {
			offered := topologymanager.TopologyHint{Preferred: h.Preferred}
			if h.Nodes != nil {
				if offered.NUMANodeAffinity, err = bitmask.NewBitMask(h.Nodes...); err != nil {
					return nil, err
				}
			}
			hints = append(hints, offered)
		}
		manager.AddHintProvider(klog.Background(), offers{map[string][]topologymanager.TopologyHint{fmt.Sprintf("r%d", i): hints}})
	}
	return &Merger{kubelet{topology: manager}}, nil
}

// Admit admits the pod.
func (m *Merger) Admit() (o Outcome) {
	defer func() {
		if recover() != nil {
			o = Outcome{Message: Crashed}
		}
	}()
	verdict := m.verdict(MergePod())
	o = Outcome{Admitted: verdict.Admit, Message: verdict.Message}
	if verdict.Admit {
		best := m.affinity("p", "c")
		o.Preferred = best.Preferred
		if best.NUMANodeAffinity != nil {
			o.Nodes = best.NUMANodeAffinity.GetBits()
		}
	}
	return o
}
