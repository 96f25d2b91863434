package fleet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/quantity"
)

// Group is nodes of one machine, kubelet and configuration.
type Group struct {
	Number int      `json:"number"`
	Nodes  []string `json:"nodes"`
	// Machine and KubeletVersion are what the nodes have in common.
	Machine        string `json:"machine"`
	KubeletVersion string `json:"kubeletVersion"`
	// Config is a configuration of one of them; empty where it is not known, and
	// the nodes are grouped by what they keep from pods.
	Config string `json:"config,omitempty"`
	// Of is the number of the group that its machines are most often in; the
	// group's own where it is that one. Differs tells it from that one, and Odd
	// says that the group has at most half as many nodes.
	Of      int      `json:"of"`
	Odd     bool     `json:"odd"`
	Differs []string `json:"differs,omitempty"`
}

// groupKey is what a node is grouped by, as fields with their values.
type groupKey struct {
	// peers are nodes that should be alike: of one instance type, or else of one
	// architecture and number of CPUs.
	peers  string
	fields map[string]string
	text   string
}

// perNode are the fields of a configuration that differ from node to node by
// their purpose.
func perNode() []string { return []string{"address", "podCIDR", "providerID", "apiVersion", "kind"} }

func (j *judged) readKey() {
	n := j.node
	f := map[string]string{
		"architecture": n.arch, "cpu": quantityOf(corev1.ResourceCPU, n.capacity[corev1.ResourceCPU]).String(), "kubeletVersion": n.version,
	}
	for name, amount := range n.capacity {
		switch name {
		case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods:
		default:
			f[string(name)] = quantityOf(name, amount).String()
		}
	}
	if n.config != nil {
		maps.Copy(f, configFields(n))
	}
	j.key.fields = f
	j.key.peers = or(n.instance, n.arch+" "+f["cpu"])
}

// configFields are the configuration's fields as JSON.
func configFields(n *node) map[string]string {
	fields := map[string]string{}
	var raw map[string]json.RawMessage
	text, err := json.Marshal(&n.config.KubeletConfiguration)
	if err == nil {
		err = json.Unmarshal(text, &raw)
	}
	if err != nil {
		return map[string]string{"configuration": err.Error()}
	}
	for name, value := range raw {
		if !slices.Contains(perNode(), name) {
			fields[name] = string(value)
		}
	}
	return fields
}

// tolerance is how far amounts may lie apart, as a part of the larger, that are
// taken for equal: the kernel keeps some memory to itself, each boot a little
// other.
const tolerance = 0.01

// cluster names each node's amount by the smallest one that others lead to in
// small steps.
func cluster(all []*judged, field string, name corev1.ResourceName, amount func(*node) (int64, bool)) {
	type valued struct {
		j *judged
		n int64
	}
	var list []valued
	for _, j := range all {
		if n, known := amount(j.node); known {
			list = append(list, valued{j, n})
		}
	}
	slices.SortStableFunc(list, func(a, b valued) int { return cmp.Compare(a.n, b.n) })
	start := 0
	for i := range list {
		if i > 0 && float64(list[i].n-list[i-1].n) > tolerance*float64(list[i].n) {
			start = i
		}
		list[i].j.key.fields[field] = quantityOf(name, list[start].n).String()
	}
}

// group puts nodes together and finds those that differ from their peers.
func group(all []*judged) []Group {
	var known []*judged
	for _, j := range all {
		if j.node.status {
			j.readKey()
			known = append(known, j)
		}
	}
	cluster(known, "memory", corev1.ResourceMemory, func(n *node) (int64, bool) { return n.capacity[corev1.ResourceMemory], true })
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
		cluster(known, "kept "+string(name), name, func(n *node) (int64, bool) {
			kept := n.capacity[name] - n.allocatable[name]
			if name == corev1.ResourcePods {
				kept = n.allocatable[name]
			}
			return kept, n.config == nil
		})
	}
	members := map[string][]*judged{}
	for _, j := range known {
		j.key.text = keyText(j.key)
		members[j.key.text] = append(members[j.key.text], j)
	}
	sets := slices.SortedFunc(maps.Values(members), func(a, b []*judged) int {
		return cmp.Or(-cmp.Compare(len(a), len(b)), cmp.Compare(a[0].node.name, b[0].node.name))
	})
	norm := map[string]int{}
	groups := make([]Group, 0, len(sets))
	for i, set := range sets {
		first := set[0]
		g := Group{Number: i + 1, Machine: machineText(first), KubeletVersion: first.node.version, Config: first.node.configSource}
		for _, j := range set {
			g.Nodes = append(g.Nodes, j.node.name)
			j.out.Group = g.Number
		}
		if _, any := norm[first.key.peers]; !any {
			norm[first.key.peers] = i
		}
		g.Of = norm[first.key.peers] + 1
		if g.Of != g.Number {
			g.compare(set, sets[g.Of-1])
		}
		groups = append(groups, g)
	}
	return groups
}

// compare tells the group from the one that most of its peers are in.
func (g *Group) compare(own, most []*judged) {
	a, b := own[0].key.fields, most[0].key.fields
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if a[name] != b[name] {
			g.Differs = append(g.Differs, fmt.Sprintf("%s: %s instead of %s", name, or(a[name], "nothing"), or(b[name], "nothing")))
		}
	}
	if g.Odd = 2*len(own) <= len(most); !g.Odd {
		return
	}
	for _, j := range own {
		j.find(FindingOdd, "compare it with "+most[0].node.name+", and bring them together", "differs from %d of its peers (group %d): %s", len(most), g.Of, strings.Join(g.Differs, "; "))
	}
}

func keyText(k groupKey) string {
	var text strings.Builder
	text.WriteString(k.peers)
	for _, name := range slices.Sorted(maps.Keys(k.fields)) {
		fmt.Fprintf(&text, "\x00%s=%s", name, k.fields[name])
	}
	return text.String()
}

// machineText describes the machine in a few words.
func machineText(j *judged) string {
	n := j.node
	memory, _ := quantity.Parse(j.key.fields["memory"]) // as cluster wrote it
	words := []string{j.key.fields["cpu"] + " CPUs", quantity.Bytes(memory)}
	for _, word := range []string{n.arch, n.instance} {
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}
