package check

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/gen"
	"github.com/kqos/kqos/conformance/oracle/pod"
)

// Pod draws a pod. Before 1.37 a resize under way, what is claimed through
// DRA, and amounts below zero counted otherwise, where kqos counts as 1.37 does:
// they are left away.
func Pod(t *rapid.T) *corev1.Pod {
	p := gen.Pod().Draw(t, "pod")
	if Minor(t) < 37 {
		p.Status = corev1.PodStatus{QOSClass: p.Status.QOSClass}
		notNegative(p)
	}
	return p
}

func notNegative(p *corev1.Pod) {
	lists := []corev1.ResourceList{p.Spec.Overhead}
	if r := p.Spec.Resources; r != nil {
		lists = append(lists, r.Requests, r.Limits)
	}
	for _, c := range pod.Containers(p) {
		lists = append(lists, c.Resources.Requests, c.Resources.Limits)
	}
	for _, list := range lists {
		for name, q := range list {
			if q.Sign() < 0 {
				list[name] = resource.Quantity{}
			}
		}
	}
}
