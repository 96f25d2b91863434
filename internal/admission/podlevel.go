package admission

import (
	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kqos/kqos/internal/quantity"
)

const gateFixDefaulting = "PodLevelResourcesFixDefaulting"

// completePodLevel fills in what spec.resources leaves open once it names
// anything: hugepage limits, then requests, then limits, each of which may
// depend on the one before.
//
// kubernetes v1.37: pkg/api/pod/util.go DefaultPodLevelResources.
func completePodLevel(pod *corev1.Pod) {
	r := pod.Spec.Resources
	if r == nil || len(r.Requests)+len(r.Limits) == 0 {
		return
	}
	limitHugePages(pod)
	requestPodLevel(pod)
	limitPodLevel(pod)
}

// completePodLevelEarly is the defaulting before PodLevelResourcesFixDefaulting:
// it ran in the decoder, so for static pods too, asked for a pod-level limit
// before it filled requests, and never filled limits of cpu and memory.
//
// kubelet v1.37: pkg/apis/core/v1/defaults.go defaultHugePagePodLimits,
// defaultPodRequests.
func completePodLevelEarly(pod *corev1.Pod) {
	r := pod.Spec.Resources
	if r == nil || len(r.Requests)+len(r.Limits) == 0 {
		return
	}
	limitHugePages(pod)
	if len(r.Limits) > 0 {
		requestPodLevel(pod)
	}
}

// limitHugePages takes the containers' summed hugepage limits over, unless the
// pod requests that size itself.
func limitHugePages(pod *corev1.Pod) {
	r := pod.Spec.Resources
	for name, sum := range resourcehelper.AggregateContainerLimits(pod, resourcehelper.PodResourcesOptions{}) {
		_, requested := r.Requests[name]
		if quantity.IsHugePages(name) && !requested {
			setMissing(&r.Limits, name, sum)
		}
	}
}

// requestPodLevel fills requests of cpu and memory from the containers' sums,
// then all supported ones from the pod's limits.
func requestPodLevel(pod *corev1.Pod) {
	r := pod.Spec.Resources
	for name, sum := range resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{}) {
		if resourcehelper.IsSupportedPodLevelResource(name) && !quantity.IsHugePages(name) {
			setMissing(&r.Requests, name, sum)
		}
	}
	for name, limit := range r.Limits {
		if resourcehelper.IsSupportedPodLevelResource(name) {
			setMissing(&r.Requests, name, limit)
		}
	}
}

// limitPodLevel sets a limit where every container limits what the pod
// requests: the containers' sum, but never below the pod's request.
func limitPodLevel(pod *corev1.Pod) {
	r := pod.Spec.Resources
	sums := resourcehelper.AggregateContainerLimits(pod, resourcehelper.PodResourcesOptions{})
	for name, request := range r.Requests {
		sum, ok := sums[name]
		if !ok || !resourcehelper.IsSupportedPodLevelResource(name) || !everyContainerLimits(pod, name) {
			continue
		}
		if request.Cmp(sum) > 0 {
			sum = request
		}
		setMissing(&r.Limits, name, sum)
	}
}

// everyContainerLimits counts ephemeral containers too.
func everyContainerLimits(pod *corev1.Pod, name corev1.ResourceName) bool {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if _, ok := list[i].Resources.Limits[name]; !ok {
				return false
			}
		}
	}
	for i := range pod.Spec.EphemeralContainers {
		if _, ok := pod.Spec.EphemeralContainers[i].Resources.Limits[name]; !ok {
			return false
		}
	}
	return true
}
