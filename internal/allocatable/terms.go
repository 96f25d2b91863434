package allocatable

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
)

// Term is one step from capacity to allocatable.
type Term struct {
	Resource corev1.ResourceName `json:"resource"`
	// Name says what the step is, such as systemReserved or
	// evictionHard memory.available<5%.
	Name string `json:"name"`
	// Amount is added; what is kept from pods is negative.
	Amount resource.Quantity `json:"amount"`
	// From is the field of the configuration, "machine", or "default".
	From string `json:"from"`
}

// status computes allocatable, each resource at its own, and the terms that lead
// there: reservations and thresholds first, then huge pages, each time no lower
// than 0.
//
// kubelet v1.37: pkg/kubelet/nodestatus/setters.go MachineInfo.
func status(c *kubelet.Config, n Node, r *Result) (corev1.ResourceList, []Term) {
	left := corev1.ResourceList{}
	var terms []Term
	for _, name := range sortedNames(r.Capacity) {
		s := steps{resource: name}
		s.start(r.Capacity[name], capacitySource(c, n, name))
		s.sub("systemReserved", r.Reservations.System[name], r.Reservations.source("systemReserved", name))
		s.sub("kubeReserved", r.Reservations.Kube[name], r.Reservations.source("kubeReserved", name))
		for _, t := range r.Thresholds {
			if t.Resource() == name {
				s.sub("evictionHard "+t.Signal+"<"+t.Text, r.Eviction[name], thresholdSource(c, t))
			}
		}
		s.floor()
		if name == corev1.ResourceMemory {
			for _, pages := range sortedNames(r.Capacity) {
				if quantity.IsHugePages(pages) {
					s.sub(string(pages), r.Capacity[pages], capacitySource(c, n, pages))
				}
			}
			s.floor()
		}
		left[name] = s.sum
		terms = append(terms, s.terms...)
	}
	return left, terms
}

// steps adds up terms.
type steps struct {
	resource corev1.ResourceName
	sum      resource.Quantity
	terms    []Term
}

func (s *steps) start(q resource.Quantity, from string) {
	s.sum = q.DeepCopy()
	s.terms = append(s.terms, Term{s.resource, "capacity", q.DeepCopy(), from})
}

// sub takes an amount away; zero is no step.
func (s *steps) sub(name string, q resource.Quantity, from string) {
	if q.IsZero() {
		return
	}
	s.sum.Sub(q)
	q = q.DeepCopy()
	q.Neg()
	s.terms = append(s.terms, Term{s.resource, name, q, from})
}

// floor lifts a negative sum to 0.
func (s *steps) floor() {
	if s.sum.Sign() >= 0 {
		return
	}
	lift := s.sum.DeepCopy()
	lift.Neg()
	s.terms = append(s.terms, Term{s.resource, "floor", lift, "no less than 0"})
	s.sum.Set(0)
}

func capacitySource(c *kubelet.Config, n Node, name corev1.ResourceName) string {
	switch {
	case n.From[name] != "":
		return n.From[name]
	case name != corev1.ResourcePods:
		return "machine"
	case c.PodsPerCore > 0:
		return "podsPerCore, maxPods"
	case c.Written["maxPods"]:
		return "maxPods"
	}
	return "default"
}

func (r Reservations) source(field string, name corev1.ResourceName) string {
	if name == corev1.ResourceCPU && !r.CPUs.IsEmpty() {
		return "reservedSystemCPUs"
	}
	return field + "." + string(name)
}

// thresholdSource tells a default threshold from a written one. One that
// mergeDefaultEvictionSettings filled in is told by its value.
func thresholdSource(c *kubelet.Config, t Threshold) string {
	filled := c.MergeDefaultEvictionSettings != nil && *c.MergeDefaultEvictionSettings && kubelet.DefaultEvictionHard()[t.Signal] == t.Text
	if !c.Written["evictionHard"] || filled {
		return "default"
	}
	return "evictionHard." + t.Signal
}

func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	return slices.Sorted(maps.Keys(list))
}
