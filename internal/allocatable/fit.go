package allocatable

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Room is what a node's allocatable has left while pods are admitted.
type Room struct {
	allocatable, used corev1.ResourceList
	pods              int64
}

// Room is that of a node without pods.
func (r *Result) Room() *Room { return &Room{allocatable: r.Allocatable, used: corev1.ResourceList{}} }

// Take admits a pod with these effective requests, or tells the reason and the
// message with which the kubelet refuses it. What is not known to be limited
// fits. Huge pages are not asked: few descriptions of a machine tell how many
// are preallocated.
//
// kubelet v1.37: pkg/kubelet/lifecycle/predicate.go Admit, generalFilter.
func (r *Room) Take(requests corev1.ResourceList) (reason, message string) {
	if capacity, known := r.allocatable[corev1.ResourcePods]; known && r.pods+1 > capacity.Value() {
		return outOf(corev1.ResourcePods, 1, r.pods, capacity.Value())
	}
	asked := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	for _, name := range asked {
		capacity, known := r.allocatable[name]
		request, used := requests[name], r.used[name]
		if !known || request.Sign() <= 0 {
			continue
		}
		left := capacity.DeepCopy()
		left.Sub(used)
		if request.Cmp(left) > 0 {
			return outOf(name, units(name, request), units(name, used), units(name, capacity))
		}
	}
	r.pods++
	for _, name := range asked {
		sum := r.used[name].DeepCopy()
		sum.Add(requests[name])
		r.used[name] = sum
	}
	return "", ""
}

// units is an amount as the scheduler's code counts it: millicores or bytes.
func units(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

func outOf(name corev1.ResourceName, requested, used, capacity int64) (reason, message string) {
	return "OutOf" + string(name), fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", name, requested, used, capacity)
}
