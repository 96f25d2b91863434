package qos

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
)

// counted replaces each quantity beyond int64 by what the kubelet reads of it,
// most often 0: it counts cpu in millicores and all else in units, in int64.
func counted(list corev1.ResourceList) corev1.ResourceList {
	for name, q := range list {
		if !quantity.BeyondInt64(name, q) {
			continue
		}
		scale := resource.Scale(0)
		if name == corev1.ResourceCPU {
			scale = resource.Milli
		}
		list[name] = *resource.NewScaledQuantity(q.ScaledValue(scale), scale)
	}
	return list
}

// Overflows names, in order, the resources of which the pod's effective request
// or limit is beyond int64, so that what Requests or Limits give is no amount of
// anything.
func Overflows(pod *corev1.Pod, g kubelet.Gates) []corev1.ResourceName {
	if !large(pod) {
		return nil
	}
	beyond := map[corev1.ResourceName]bool{}
	for _, list := range []corev1.ResourceList{PodRequests(pod, options(g)), podLimits(pod, options(g))} {
		for name, q := range list {
			if quantity.BeyondInt64(name, q) {
				beyond[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(beyond))
}

// large tells whether any amount of the pod is so large that sums may overflow:
// no pod has a million containers.
func large(pod *corev1.Pod) bool {
	const limit = 1 << 33
	anyLarge := func(lists ...corev1.ResourceList) bool {
		for _, list := range lists {
			for name, q := range list {
				amount := q.AsApproximateFloat64()
				if name != corev1.ResourceCPU {
					amount /= 1000
				}
				if amount > limit {
					return true
				}
			}
		}
		return false
	}
	if r := pod.Spec.Resources; anyLarge(pod.Spec.Overhead) || r != nil && anyLarge(r.Requests, r.Limits) {
		return true
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if anyLarge(list[i].Resources.Requests, list[i].Resources.Limits) {
				return true
			}
		}
	}
	return false
}
