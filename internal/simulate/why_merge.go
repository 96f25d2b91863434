package simulate

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// whyMerge is about a merged hint that the policy does not admit. Exactly one
// of three things is true of it: a list can't be met, or has no hint that the
// policy takes, or all have one but share none.
func (n *Node) whyMerge(pod *corev1.Pod, c *corev1.Container, r topologymanager.Round) string {
	single := n.spec.Config.TopologyManagerPolicy == kubelet.TopologyPolicySingleNUMANode
	for _, l := range r.Lists {
		if l.Hints == nil || slices.ContainsFunc(l.Hints, func(h topologymanager.Hint) bool { return takes(h, single) }) {
			continue
		}
		w := n.wanted(pod, c, l.Provider, l.Resource)
		if len(l.Hints) == 0 {
			return n.whyImpossible(w, l)
		}
		return n.whyTooWide(w, l)
	}
	return n.whyDisagreement(pod, c, r, single)
}

// takes tells whether a policy that refuses at all can admit the hint alone.
func takes(h topologymanager.Hint, single bool) bool {
	return h.Preferred && (!single || h.Affinity.Count() <= 1)
}

func (n *Node) whyImpossible(w wanted, l topologymanager.List) string {
	if text, ok := w.shortage(w.total()); ok {
		return text
	}
	return fmt.Sprintf("the %s manager can't give %s: it holds other resources already than it asks for, or its containers leave no shared ones", l.Provider, w.text(w.amount))
}

// whyTooWide is about a request that only more NUMA nodes can meet than the
// policy admits: more than it would need on an empty machine, or more than one.
func (n *Node) whyTooWide(w wanted, l topologymanager.List) string {
	policy := n.spec.Config.TopologyManagerPolicy
	narrowest := slices.MinFunc(l.Hints, func(a, b topologymanager.Hint) int { return a.Affinity.Count() - b.Affinity.Count() }).Affinity
	if wide := slices.IndexFunc(l.Hints, func(h topologymanager.Hint) bool { return h.Preferred }); wide >= 0 {
		return fmt.Sprintf("%s need %d NUMA nodes even on an empty machine, and %s admits one: ask for less, or use restricted",
			w.text(w.amount), l.Hints[wide].Affinity.Count(), policy)
	}
	text := fmt.Sprintf("%s would fit fewer NUMA nodes than the %d on which they are free now (%s), and %s admits only the fewest",
		w.text(w.amount), narrowest.Count(), w.freeText(), policy)
	node, free := w.roomiest()
	if missing := w.amount - free; node >= 0 && missing > 0 && n.fitsOneNode(w, l.Provider, node) {
		return text + fmt.Sprintf(": %s more free on node %d would do", w.number(missing), node)
	}
	return text + ": best-effort would admit it"
}

// fitsOneNode tells whether the node could hold the request if it were empty.
func (n *Node) fitsOneNode(w wanted, provider string, node int) bool {
	switch provider {
	case n.cpus.Name():
		return int64(n.cpus.Allocatable().Intersection(n.spec.Machine.CPUsOf(node)).Size()) >= w.amount
	case n.memory.Name():
		table := n.memory.Nodes()[node].MemoryMap[corev1.ResourceName(w.what)]
		return table != nil && table.Allocatable >= uint64(w.amount)
	}
	count := 0
	for _, d := range n.spec.Machine.Devices {
		if d.Resource == w.what && slices.Contains(d.NUMA, node) {
			count++
		}
	}
	return int64(count) >= w.amount
}

// whyDisagreement is about lists that each have a hint to take, but none in
// common.
func (n *Node) whyDisagreement(pod *corev1.Pod, c *corev1.Container, r topologymanager.Round, single bool) string {
	var before []string
	var agreed []topologymanager.Mask
	for _, l := range r.Lists {
		if l.Hints == nil {
			continue
		}
		w := n.wanted(pod, c, l.Provider, l.Resource)
		own := fmt.Sprintf("%s would take %s", w.text(w.amount), nodesText(preferred(l, single)))
		common := slices.DeleteFunc(slices.Clone(l.Agreed), func(m topologymanager.Mask) bool { return single && m.Count() > 1 })
		if l.Free || len(common) > 0 {
			before, agreed = append(before, own), common
			continue
		}
		text := fmt.Sprintf("%s, but %s: no set of NUMA nodes suits all", strings.Join(before, ", "), own)
		if len(agreed) == 0 {
			return text
		}
		at := agreed[0]
		var free int64
		for id := range at.All() {
			free += w.free[id]
		}
		if missing := w.amount - free; missing > 0 {
			text += fmt.Sprintf("; %s more free on %s would do", w.number(missing), nodesText(agreed[:1]))
		}
		return text
	}
	return "the hints of the providers share no set of NUMA nodes"
}

func preferred(l topologymanager.List, single bool) []topologymanager.Mask {
	var masks []topologymanager.Mask
	for _, h := range l.Hints {
		if takes(h, single) {
			masks = append(masks, h.Affinity)
		}
	}
	return masks
}

// nodesText names sets of nodes: "node 0", "nodes 0,1 or 2,3".
func nodesText(masks []topologymanager.Mask) string {
	const most = 4
	var words []string
	for _, m := range masks[:min(most, len(masks))] {
		words = append(words, m.String())
	}
	if more := len(masks) - most; more > 0 {
		words = append(words, fmt.Sprintf("%d other sets", more))
	}
	if len(masks) == 1 && masks[0].Count() == 1 {
		return "node " + words[0]
	}
	return "nodes " + strings.Join(words, " or ")
}

func deviceNames(devices []machine.Device) []string {
	var names []string
	for _, d := range devices {
		names = append(names, d.Resource)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
