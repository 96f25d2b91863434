package allocatable

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/quantity"
)

// Shortage is a resource of which a node's allocatable leaves too little for one
// more pod, with what that pod requests, what the others use and what there is:
// millicores of cpu, whole numbers of all else.
type Shortage struct {
	Resource                  corev1.ResourceName
	Requested, Used, Capacity int64
}

// OutOf begins the reason of each pod that the kubelet refuses for a shortage.
const OutOf = "OutOf"

// Reason is what the status of the refused pod gives as its reason.
//
// kubelet v1.37: pkg/kubelet/lifecycle/predicate.go Admit, InsufficientResourceError.
func (s *Shortage) Reason() string { return OutOf + string(s.Resource) }

// Message is what the status of the refused pod says.
func (s *Shortage) Message() string {
	return fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", s.Resource, s.Requested, s.Used, s.Capacity)
}

// Short finds the first resource that the allocatable lacks for a pod with these
// effective requests besides so many pods that use what is given; nil when the pod
// fits. What is not known to be limited fits. The kubelet asks for cpu, memory and
// ephemeral storage before any other resource; the rest follow in the order given,
// and those not named are left to others.
//
// kubelet v1.37: pkg/scheduler/framework/plugins/noderesources/fit.go fitsRequest.
func Short(allocatable, requests, used corev1.ResourceList, pods int64, rest ...corev1.ResourceName) *Shortage {
	if most, known := allocatable[corev1.ResourcePods]; known && pods+1 > most.Value() {
		return &Shortage{corev1.ResourcePods, 1, pods, most.Value()}
	}
	for _, name := range append([]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}, rest...) {
		if _, known := allocatable[name]; !known {
			continue
		}
		s := &Shortage{name, quantity.Units(name, requests[name]), quantity.Units(name, used[name]), quantity.Units(name, allocatable[name])}
		if s.Capacity >= 0 && s.Requested > 0 && s.Requested > s.Capacity-s.Used {
			return s
		}
	}
	return nil
}

// Room is what a node's allocatable has left while pods are admitted.
type Room struct {
	allocatable, used corev1.ResourceList
	pods              int64
}

// Room is that of a node without pods.
func (r *Result) Room() *Room { return &Room{allocatable: r.Allocatable, used: corev1.ResourceList{}} }

// Take admits a pod with these effective requests, or tells why the kubelet
// refuses it. Huge pages are not asked: few descriptions of a machine tell how many
// are preallocated.
func (r *Room) Take(requests corev1.ResourceList) *Shortage {
	if s := Short(r.allocatable, requests, r.used, r.pods); s != nil {
		return s
	}
	r.pods++
	quantity.Add(r.used, requests)
	return nil
}
