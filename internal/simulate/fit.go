package simulate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/qos"
	"github.com/kqos/kqos/internal/quantity"
)

// Fit is how often one more copy of a pod is admitted, and what stops the next.
type Fit struct {
	Pod string `json:"pod"`
	// More is the number of further copies.
	More int `json:"more"`
	// Reason and Message are what the status of the next copy would say.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Why is one sentence on what stops it.
	Why string `json:"why,omitempty"`
}

// Fit admits copies of the pod until one is refused, by the managers or by the
// node's allocatable, which the kubelet asks after them. The pods that only
// checkpoint files name count with what the files tell of them.
func (n *Node) Fit(pod *corev1.Pod) Fit {
	f := Fit{Pod: pod.Name}
	for {
		next := pod.DeepCopy()
		next.Name = fmt.Sprintf("%s-more-%d", pod.Name, f.More+1)
		next.UID = types.UID(fmt.Sprintf("%s-more-%d", pod.UID, f.More+1))
		short := n.short(next)
		a := n.Add(next)
		switch {
		case a.Verdict.Crash != nil:
			f.Message, f.Why = a.Verdict.Crash.Message, a.Why
			return f
		case !a.Verdict.Admitted:
			f.Reason, f.Message, f.Why = a.Verdict.Reason, a.Verdict.Message, a.Why
			return f
		case short != nil:
			n.Remove(next.UID)
			f.Reason, f.Message, f.Why = short.Reason(), short.Message(), tooLittle(short)
			return f
		}
		f.More++
	}
}

// tooLittle is one sentence on a shortage.
func tooLittle(s *allocatable.Shortage) string {
	if s.Resource == corev1.ResourcePods {
		return fmt.Sprintf("The kubelet takes no more than %d pods (maxPods, podsPerCore).", s.Capacity)
	}
	w := wanted{what: string(s.Resource), bytes: s.Resource != corev1.ResourceCPU}
	unit := ""
	if !w.bytes {
		unit = "m"
	}
	return fmt.Sprintf("Allocatable %s is %s%s, of which the pods before request %s%s and this one another %s%s.",
		s.Resource, w.number(s.Capacity), unit, w.number(s.Used), unit, w.number(s.Requested), unit)
}

// short finds what the node lacks for a pod besides the active ones; nil when the
// pod fits. Devices are left to their manager. The kubelet asks for huge pages in
// the order of a map.
func (n *Node) short(pod *corev1.Pod) *allocatable.Shortage {
	requests := qos.Requests(pod, n.spec.Config.Gates)
	var huge []corev1.ResourceName
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		if quantity.IsHugePages(name) {
			huge = append(huge, name)
		}
	}
	return allocatable.Short(n.allocatable, requests, n.used(), int64(len(n.active)), huge...)
}

// used is what the active pods request.
func (n *Node) used() corev1.ResourceList {
	used := corev1.ResourceList{}
	for _, p := range n.active {
		quantity.Add(used, qos.Requests(p, n.spec.Config.Gates))
	}
	return used
}

// Left is what allocatable leaves of a resource besides the active pods, in
// millis of cpu and whole numbers of all else: below zero where they request
// more, and without a bound where allocatable does not have the resource.
func (n *Node) Left(name corev1.ResourceName) int64 {
	if _, known := n.allocatable[name]; !known {
		return math.MaxInt64
	}
	return quantity.Units(name, n.allocatable[name]) - quantity.Units(name, n.used()[name])
}
