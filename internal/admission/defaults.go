package admission

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
)

// Default does what the API server does by itself at creation, without any
// plugin: quantities are rounded up to milli units, requests filled from
// limits, pod-level resources completed and the status wiped.
func Default(pod *corev1.Pod, g kubelet.Gates) {
	setDefaults(pod, g)
	prepareForCreate(pod, g)
}

// setDefaults are the defaults of the API's decoder, which a static pod passes
// as well.
//
// kubelet v1.37: pkg/apis/core/v1/defaults.go SetDefaults_ResourceList,
// SetDefaults_Pod.
func setDefaults(pod *corev1.Pod, g kubelet.Gates) {
	spec := &pod.Spec
	roundUp(spec.Overhead)
	if spec.Resources != nil {
		roundUp(spec.Resources.Limits)
		roundUp(spec.Resources.Requests)
	}
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			roundUp(list[i].Resources.Limits)
			roundUp(list[i].Resources.Requests)
			requestsFromLimits(&list[i].Resources)
		}
	}
	if g.Enabled(kubelet.GatePodLevelResources) && !g.Enabled(gateFixDefaulting) {
		completePodLevelEarly(pod)
	}
}

// prepareForCreate is what the API server does after the mutating plugins. Of
// the status it keeps the DRA claims alone: the scheduler writes them for the
// created pod, and without them a claimed amount would be lost.
//
// kubernetes v1.37: pkg/registry/core/pod/strategy.go PrepareForCreate.
func prepareForCreate(pod *corev1.Pod, g kubelet.Gates) {
	pod.Status = corev1.PodStatus{
		Phase:                                corev1.PodPending,
		NodeAllocatableResourceClaimStatuses: pod.Status.NodeAllocatableResourceClaimStatuses,
	}
	if g.Enabled(kubelet.GatePodLevelResources) && g.Enabled(gateFixDefaulting) {
		completePodLevel(pod)
	}
}

// roundUp rounds every quantity up to milli units.
func roundUp(list corev1.ResourceList) {
	for name, q := range list {
		q.RoundUp(resource.Milli)
		list[name] = q
	}
}

// requestsFromLimits fills a request for every limit that has none.
func requestsFromLimits(r *corev1.ResourceRequirements) {
	if r.Limits != nil && r.Requests == nil {
		r.Requests = make(corev1.ResourceList, len(r.Limits))
	}
	addMissing(r.Requests, r.Limits)
}

// addMissing copies what list lacks.
func addMissing(list, from corev1.ResourceList) {
	for name, q := range from {
		if _, ok := list[name]; !ok {
			list[name] = q.DeepCopy()
		}
	}
}

// setMissing sets one quantity unless the list has it.
func setMissing(list *corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) {
	if _, ok := (*list)[name]; ok {
		return
	}
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = q.DeepCopy()
}
