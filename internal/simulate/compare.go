package simulate

import (
	"context"
	"slices"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/parallel"
)

// Outcome is what became of the pods under one variant.
type Outcome struct {
	Variant
	// Configured marks the variant of the configuration itself.
	Configured bool `json:"configured,omitempty"`
	// StartError says that the kubelet does not start.
	StartError *StartError `json:"startError,omitempty"`
	Admitted   int         `json:"admitted"`
	// Refused are the other pods, and why the first of them was.
	Refused []string `json:"refused,omitempty"`
	Why     string   `json:"why,omitempty"`
	// CrossNUMA counts containers whose exclusive CPUs, pinned memory and devices
	// lie on more than one NUMA node, CrossLLC those whose exclusive CPUs have
	// more than one last level cache.
	CrossNUMA int `json:"crossNUMA"`
	CrossLLC  int `json:"crossLLC"`
	// CPUsLeft are the CPUs that could still become exclusive; 0 under policy
	// none.
	CPUsLeft int `json:"cpusLeft"`
}

// Compare admits the pods on a fresh node under every variant that the gates
// and the options' own rules allow, the best first: more pods admitted, fewer
// containers across NUMA nodes and caches, more CPUs left. Progress, if not
// nil, is told the number done, from any goroutine. The error is the context's.
func Compare(ctx context.Context, spec Spec, pods []*corev1.Pod, progress func(done, all int)) ([]Outcome, error) {
	variants := variants(spec.Config)
	outcomes := make([]Outcome, len(variants))
	var done atomic.Int64
	parallel.Each(len(variants), func(i int) {
		if ctx.Err() != nil {
			return
		}
		outcomes[i] = try(spec, variants[i], pods)
		if n := int(done.Add(1)); progress != nil {
			progress(n, len(variants))
		}
	})
	slices.SortStableFunc(outcomes, compareOutcomes)
	return outcomes, ctx.Err()
}

// compareOutcomes orders the better first. Where nothing is pinned nothing can
// cross, which is no merit.
func compareOutcomes(a, b Outcome) int {
	starts := func(o Outcome) int { return count(o.StartError == nil) }
	pins := func(o Outcome) int { return count(o.CPUPolicy == kubelet.CPUPolicyStatic) }
	for _, d := range []int{
		starts(b) - starts(a), b.Admitted - a.Admitted, pins(b) - pins(a), a.CrossNUMA - b.CrossNUMA, a.CrossLLC - b.CrossLLC, b.CPUsLeft - a.CPUsLeft,
	} {
		if d != 0 {
			return d
		}
	}
	return 0
}

// try admits the pods under one variant.
func try(spec Spec, v Variant, pods []*corev1.Pod) Outcome {
	out := Outcome{Variant: v, Configured: v.equal(variantOf(spec.Config))}
	spec.Config = v.on(spec.Config)
	n, err := NewNode(spec, nil)
	if out.StartError = startError(err); out.StartError != nil {
		return out
	}
	for _, pod := range pods {
		a := n.Add(pod)
		if !a.Verdict.Admitted {
			out.Refused = append(out.Refused, pod.Name)
			if out.Why == "" {
				out.Why = a.Why
			}
		}
		if a.Verdict.Crash != nil {
			return out
		}
		out.Admitted += count(a.Verdict.Admitted)
		for i := range a.Containers {
			numa, llc := n.crossed(&a.Containers[i])
			out.CrossNUMA += count(numa)
			out.CrossLLC += count(llc)
		}
	}
	for _, free := range n.cpus.Free() {
		out.CPUsLeft += free
	}
	return out
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// crossed tells whether what a container has for itself spans NUMA nodes or
// last level caches.
func (n *Node) crossed(c *Container) (numa, llc bool) {
	nodes, caches := map[int]bool{}, map[int]bool{}
	if cpus, err := cpuset.Parse(c.CPUs); err == nil && c.Exclusive {
		for _, cpu := range n.spec.Machine.CPUs {
			if cpus.Contains(cpu.ID) {
				nodes[cpu.NUMA], caches[cpu.LLC] = true, true
			}
		}
	}
	for _, b := range c.Memory {
		for _, id := range b.NUMA {
			nodes[id] = true
		}
	}
	for _, d := range n.spec.Machine.Devices {
		// A device that is close to several nodes crosses none.
		if len(d.NUMA) == 1 && slices.Contains(c.Devices[d.Resource], d.ID) {
			nodes[d.NUMA[0]] = true
		}
	}
	return len(nodes) > 1, len(caches) > 1
}
