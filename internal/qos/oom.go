package qos

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kqos/kqos/internal/kubelet"
)

// The OOM scores outside the Burstable formula, and the bounds within it: a
// Burstable container scores at least 1000 + guaranteedScore and below
// bestEffortScore.
//
// kubelet v1.37: pkg/kubelet/qos/policy.go.
const (
	guaranteedScore int64 = -997
	bestEffortScore int64 = 1000
	scoreRange      int64 = 1000
)

// OOMScoreAdj is the oom_score_adj of a container of the pod on a machine with
// that much memory in bytes (MemTotal, not allocatable). The kubelet multiplies
// in int64 without looking: a request above 9223372036854775 bytes wraps, and
// the score leaves -1000..1000. Where NeedsMemoryCapacity holds, memoryCapacity
// must be above zero; with none the result is 0, which means nothing.
//
// kubelet v1.37: pkg/kubelet/qos/policy.go GetContainerOOMScoreAdjust.
func OOMScoreAdj(pod *corev1.Pod, c *corev1.Container, memoryCapacity int64, g kubelet.Gates) int64 {
	return ReadOOMTerms(pod, c, g).Score(memoryCapacity)
}

// OOMTerms are what a container brings to its OOM score, whatever the machine:
// enough to tell the score once the machine's memory is known.
type OOMTerms struct {
	// Fixed is the score of a container whose score does not depend on the
	// machine; 0 for any other.
	Fixed int64
	// Request is the memory in bytes by which the kubelet scores the container.
	Request int64
	// AppRequest is, for a sidecar, that of the app container with the smallest
	// one, which the sidecar's score may not exceed; nil for others.
	AppRequest *int64
}

// ReadOOMTerms takes the terms out of a pod.
func ReadOOMTerms(pod *corev1.Pod, c *corev1.Container, g kubelet.Gates) OOMTerms {
	if !NeedsMemoryCapacity(pod, g) {
		if IsNodeCritical(pod) || Class(pod, g) == corev1.PodQOSGuaranteed {
			return OOMTerms{Fixed: guaranteedScore}
		}
		return OOMTerms{Fixed: bestEffortScore}
	}
	share := unassignedMemory(pod, g)
	t := OOMTerms{Request: memoryRequest(pod, c, g) + share}
	if isPodSidecar(pod, c) && len(pod.Spec.Containers) > 0 {
		app := smallestAppRequest(pod, g) + share
		t.AppRequest = &app
	}
	return t
}

// Score is the oom_score_adj on a machine with that much memory in bytes. Where
// the score is not Fixed, memoryCapacity must be above zero; with none the
// result is 0, which means nothing.
func (t OOMTerms) Score(memoryCapacity int64) int64 {
	if t.Fixed != 0 {
		return t.Fixed
	}
	if memoryCapacity <= 0 {
		return 0
	}
	score := burstableScore(t.Request, memoryCapacity)
	if t.AppRequest != nil {
		score = min(score, burstableScore(*t.AppRequest, memoryCapacity))
	}
	switch {
	case score < scoreRange+guaranteedScore:
		return scoreRange + guaranteedScore
	case score == bestEffortScore:
		return bestEffortScore - 1
	}
	return score
}

// NeedsMemoryCapacity tells whether the pod's OOM scores depend on the size of
// the machine's memory: only those of a Burstable pod do, unless it is
// node-critical.
func NeedsMemoryCapacity(pod *corev1.Pod, g kubelet.Gates) bool {
	if IsNodeCritical(pod) {
		return false
	}
	class := Class(pod, g)
	return class != corev1.PodQOSGuaranteed && class != corev1.PodQOSBestEffort
}

func burstableScore(request, memoryCapacity int64) int64 {
	return scoreRange - (scoreRange*request)/memoryCapacity
}

// isPodSidecar goes by name as the kubelet does, so an app container that says
// restartPolicy Always is none.
func isPodSidecar(pod *corev1.Pod, c *corev1.Container) bool {
	return IsSidecar(c) && slices.ContainsFunc(pod.Spec.InitContainers, func(i corev1.Container) bool { return i.Name == c.Name })
}

func smallestAppRequest(pod *corev1.Pod, g kubelet.Gates) int64 {
	smallest := memoryRequest(pod, &pod.Spec.Containers[0], g)
	for i := range pod.Spec.Containers {
		smallest = min(smallest, memoryRequest(pod, &pod.Spec.Containers[i], g))
	}
	return smallest
}

// unassignedMemory is each container's share of the pod-level memory request
// that no container asks for. Before 1.37 it falls below zero where containers
// ask for more than the pod.
//
// kubelet v1.37: pkg/kubelet/qos/helpers.go remainingPodMemReqPerContainer.
func unassignedMemory(pod *corev1.Pod, g kubelet.Gates) int64 {
	containers := int64(len(pod.Spec.Containers) + len(pod.Spec.InitContainers))
	if containers == 0 || !g.Enabled(kubelet.GatePodLevelResources) || !resourcehelper.IsPodLevelRequestsSet(pod) || pod.Spec.Resources.Requests.Memory().IsZero() {
		return 0
	}
	assigned := resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{
		UseDRANodeAllocatableResourceClaimStatus: g.Enabled(kubelet.GateDRANodeAllocatable),
	})
	rest := pod.Spec.Resources.Requests.Memory().Value() - assigned.Memory().Value()
	if g.Since(37) {
		rest = max(rest, 0)
	}
	return rest / containers
}

// memoryRequest is the container's request in bytes with its share of memory
// that it claims through DRA.
//
// kubelet v1.37: pkg/kubelet/qos/policy.go getEffectiveContainerMemoryRequest.
func memoryRequest(pod *corev1.Pod, c *corev1.Container, g kubelet.Gates) int64 {
	request := c.Resources.Requests.Memory().Value()
	if !g.Enabled(kubelet.GateDRANodeAllocatable) {
		return request
	}
	for i := range pod.Status.NodeAllocatableResourceClaimStatuses {
		claim := &pod.Status.NodeAllocatableResourceClaimStatuses[i]
		if slices.Contains(claim.Containers, c.Name) {
			request += claimedMemory(claim)
		}
	}
	return request
}

// claimedMemory is what one of the claim's containers counts: what the pod has
// once is divided among them, each item by itself.
func claimedMemory(claim *corev1.NodeAllocatableResourceClaimStatus) int64 {
	var share int64
	sharers := int64(len(claim.Containers))
	for i := range claim.Mapping {
		if m := &claim.Mapping[i]; m.Name == corev1.ResourceMemory && m.Quantity != nil {
			share += m.Quantity.Value() / sharers
		}
	}
	for i := range claim.Overhead {
		o := &claim.Overhead[i]
		if o.Name != corev1.ResourceMemory {
			continue
		}
		if o.PerPod != nil {
			share += o.PerPod.Value() / sharers
		}
		if o.PerContainer != nil {
			share += o.PerContainer.Value()
		}
	}
	return share
}
