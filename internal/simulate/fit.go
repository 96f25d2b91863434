package simulate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kqos/kqos/internal/qos"
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
			f.Reason, f.Message, f.Why = short.reason(), short.message(), short.why()
			return f
		}
		f.More++
	}
}

// shortage is a resource of which the node's allocatable leaves too little.
type shortage struct {
	resource                  corev1.ResourceName
	requested, used, capacity int64
}

// reason and message are the kubelet's.
// kubelet v1.37: pkg/kubelet/lifecycle/predicate.go Admit, InsufficientResourceError
func (s *shortage) reason() string { return "OutOf" + string(s.resource) }

func (s *shortage) message() string {
	return fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", s.resource, s.requested, s.used, s.capacity)
}

func (s *shortage) why() string {
	if s.resource == corev1.ResourcePods {
		return fmt.Sprintf("The kubelet takes no more than %d pods (maxPods, podsPerCore).", s.capacity)
	}
	w := wanted{what: string(s.resource), bytes: s.resource != corev1.ResourceCPU}
	unit := ""
	if !w.bytes {
		unit = "m"
	}
	return fmt.Sprintf("Allocatable %s is %s%s, of which the pods before request %s%s and this one another %s%s.",
		s.resource, w.number(s.capacity), unit, w.number(s.used), unit, w.number(s.requested), unit)
}

// short finds the first resource that the node lacks for a pod besides the
// active ones; nil when the pod fits. Devices are left to their manager.
// kubelet v1.37: pkg/scheduler/framework/plugins/noderesources/fit.go fitsRequest
func (n *Node) short(pod *corev1.Pod) *shortage {
	count := int64(len(n.active))
	if pods, known := n.allocatable[corev1.ResourcePods]; known && count+1 > pods.Value() {
		return &shortage{corev1.ResourcePods, 1, count, pods.Value()}
	}
	gates := n.spec.Config.Gates
	requests, used := qos.Requests(pod, gates), n.used()
	// The kubelet asks for these three before any other, and for the others in
	// the order of a map.
	names := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		if strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		capacity, known := n.allocatable[name]
		s := &shortage{name, units(requests, name), units(used, name), units(n.allocatable, name)}
		if known && capacity.Sign() >= 0 && s.requested > 0 && s.requested > s.capacity-s.used {
			return s
		}
	}
	return nil
}

// used is what the active pods request.
func (n *Node) used() corev1.ResourceList {
	used := corev1.ResourceList{}
	for _, p := range n.active {
		addTo(used, qos.Requests(p, n.spec.Config.Gates))
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
	return units(n.allocatable, name) - units(n.used(), name)
}

// units are millis of cpu and whole numbers of all else.
func units(list corev1.ResourceList, name corev1.ResourceName) int64 {
	q := list[name]
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

func addTo(sum, list corev1.ResourceList) {
	for name, q := range list {
		total := sum[name]
		total.Add(q)
		sum[name] = total
	}
}
