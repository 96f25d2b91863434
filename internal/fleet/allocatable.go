package fleet

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
)

// overcommit finds resources of which the pods request more than the node
// offers. The scheduler does not do that, but a node whose allocatable shrank,
// static pods, and pods that name their node do.
//
// kubelet v1.37: pkg/kubelet/lifecycle/predicate.go Admit.
func (j *judged) overcommit() {
	n := j.node
	requests := n.requests()
	for _, name := range sortedNames(requests) {
		if asked, offered := requests[name], n.allocatable[name]; asked > offered {
			j.find(FindingOvercommit, "move pods away, or reserve less; a restarted kubelet refuses the last of them with OutOf"+string(name),
				"pods request %s of %s, allocatable is %s", quantityOf(name, asked), name, quantityOf(name, offered))
		}
	}
	if offered, known := n.allocatable[corev1.ResourcePods]; known && int64(n.pods()) > offered {
		j.find(FindingOvercommit, "raise maxPods, or move pods away", "%s on the node, which takes %d", quantity.Count(n.pods(), "pod"), offered)
	}
}

func sortedNames(a amounts) []corev1.ResourceName { return slices.Sorted(maps.Keys(a)) }

// onNode is the node as its status reports it, with the CPUs and NUMA nodes of
// its topology where that is known.
func (j *judged) onNode(t *Topology) allocatable.Node {
	on := allocatable.NewNode(t.machine(), nil, cgroupVersion)
	on.Capacity = j.capacity()
	return on
}

// cgroupVersion is that of a host which does not tell: a kubelet of 1.35 or
// later refuses version 1 unless it is told not to.
const cgroupVersion = 2

// capacity is what the node reports.
func (j *judged) capacity() corev1.ResourceList {
	list := j.node.capacity.list()
	delete(list, corev1.ResourcePods)
	return list
}

// allocatable holds what the node reports against its own configuration.
func (j *judged) allocatable(o *Options, t *Topology) {
	n := j.node
	if n.configErr != nil {
		j.find(FindingConfig, "mend the configuration, or get it anew: kubectl get --raw /api/v1/nodes/"+n.name+"/proxy/configz",
			"a kubelet of %s refuses this configuration: %v", n.minor, n.configErr)
		return
	}
	if n.config == nil {
		return
	}
	if o.Findings != nil {
		for _, f := range o.Findings(n.config, t.machine(), j.capacity()) {
			j.find(FindingNoStart, "mend "+or(f.Field, "the configuration")+" before the kubelet restarts", "%s", inWords(f))
		}
	}
	result, _ := allocatable.Compute(n.config, j.onNode(t))
	computed := amountsOf(result.Allocatable)
	delete(computed, allocatable.ResourcePID)
	j.out.Computed = computed.list()
	for _, name := range sortedNames(computed) {
		reported, known := n.allocatable[name]
		if !known || reported == computed[name] {
			continue
		}
		d := Difference{Resource: name, Reported: *quantityOf(name, reported), Computed: *quantityOf(name, computed[name])}
		d.Term, d.Why = explain(result.Terms, name, reported, computed[name])
		j.out.Differs = append(j.out.Differs, d)
		j.find(FindingAllocatable, "restart the kubelet if its configuration changed since it started, and look for what else sets the node's status",
			"allocatable %s is %s by the node's status and %s by its configuration: %s", name, &d.Reported, &d.Computed, d.Why)
	}
}

func inWords(f kubelet.Finding) string {
	if f.Field == "" {
		return f.Message
	}
	return f.Field + ": " + f.Message
}

// explain looks for the terms that make the difference: the fewest that add up to
// it.
func explain(terms []allocatable.Term, name corev1.ResourceName, reported, computed int64) (term, why string) {
	more := reported - computed
	var kept []allocatable.Term
	for _, t := range terms {
		if t.Resource == name && t.Amount.Sign() < 0 {
			kept = append(kept, t)
		}
	}
	slices.SortStableFunc(kept, func(a, b allocatable.Term) int { return a.Amount.Cmp(b.Amount) })
	switch names := addUp(kept, name, more); {
	case name == corev1.ResourcePods:
		return "maxPods", "the kubelet that reported it had another maxPods or podsPerCore"
	case names != "":
		return names, fmt.Sprintf("the status is as if %s (%s) did not hold", names, quantityOf(name, more))
	case more > 0:
		return "", fmt.Sprintf("the status keeps %s less than the configuration, which no term explains", quantityOf(name, more))
	}
	return "", fmt.Sprintf("the status keeps %s more than the configuration", quantityOf(name, -more))
}

// maxTerms bounds the terms that are tried in all combinations: a resource has
// two reservations, a threshold, and memory one size of huge pages each.
const maxTerms = 8

// addUp names the fewest terms that keep just that much; empty where none do.
func addUp(kept []allocatable.Term, name corev1.ResourceName, amount int64) string {
	kept = kept[:min(len(kept), maxTerms)]
	best := 0
	for set := 1; set < 1<<len(kept); set++ {
		sum := int64(0)
		for i, t := range kept {
			if set&(1<<i) != 0 {
				sum -= quantity.Units(name, t.Amount)
			}
		}
		if sum == amount && (best == 0 || bits.OnesCount(uint(set)) < bits.OnesCount(uint(best))) {
			best = set
		}
	}
	var names []string
	for i, t := range kept {
		if best&(1<<i) != 0 {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " + ")
}
