package qos

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kqos/kqos/internal/kubelet"
)

const (
	restartAlways       = corev1.ContainerRestartPolicyAlways
	millisPerCPU  int64 = 1000
)

// classResources are the only resources that decide a class, in the order in
// which reasons name them.
//
// kubelet v1.37: pkg/apis/core/v1/helper/qos/qos.go supportedQoSComputeResources.
func classResources() []corev1.ResourceName {
	return []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
}

// Class is the class that the kubelet works with: status.qosClass where it is
// set, whatever the spec says, else the class of the spec.
//
// kubelet v1.37: pkg/apis/core/v1/helper/qos/qos.go GetPodQOS.
func Class(pod *corev1.Pod, g kubelet.Gates) corev1.PodQOSClass {
	if pod.Status.QOSClass != "" {
		return pod.Status.QOSClass
	}
	return ComputeClass(pod, g)
}

// ComputeClass is the class of the spec alone. Pod-level resources decide by
// themselves where they are set; else every init and app container counts, and
// one that differs from the others makes the pod Burstable.
//
// kubelet v1.37: pkg/apis/core/v1/helper/qos/qos.go ComputePodQOS.
func ComputeClass(pod *corev1.Pod, g kubelet.Gates) corev1.PodQOSClass {
	if podLevelDecides(pod, g) {
		return requirementsClass(pod.Spec.Resources)
	}
	var class corev1.PodQOSClass
	for c := range Containers(pod) {
		own := requirementsClass(&c.Resources)
		if own == corev1.PodQOSBurstable || class != "" && own != class {
			return corev1.PodQOSBurstable
		}
		class = own
	}
	if class == "" {
		return corev1.PodQOSBestEffort
	}
	return class
}

// PodLevelSet tells whether spec.resources names a resource that counts at pod
// level and the gate lets it count.
func PodLevelSet(pod *corev1.Pod, g kubelet.Gates) bool {
	return g.Enabled(kubelet.GatePodLevelResources) && resourcehelper.IsPodLevelResourcesSet(pod)
}

// podLevelDecides tells whether spec.resources decides the class. Before the
// gate's fix an empty spec.resources did as well.
func podLevelDecides(pod *corev1.Pod, g kubelet.Gates) bool {
	return PodLevelSet(pod, g) ||
		pod.Spec.Resources != nil && g.Enabled(kubelet.GatePodLevelResources) && !g.Enabled(kubelet.GateFixKubeletQOSClass)
}

// Containers yields the containers that carry resources: init containers in
// order, then app containers. Ephemeral containers carry none.
func Containers(pod *corev1.Pod) iter.Seq[*corev1.Container] {
	return func(yield func(*corev1.Container) bool) {
		for i := range pod.Spec.InitContainers {
			if !yield(&pod.Spec.InitContainers[i]) {
				return
			}
		}
		for i := range pod.Spec.Containers {
			if !yield(&pod.Spec.Containers[i]) {
				return
			}
		}
	}
}

// requirementsClass is the class of one pair of requests and limits.
func requirementsClass(r *corev1.ResourceRequirements) corev1.PodQOSClass {
	if len(r.Requests) == 0 && len(r.Limits) == 0 {
		return corev1.PodQOSBestEffort
	}
	cpu, memory := resourceClass(r, corev1.ResourceCPU), resourceClass(r, corev1.ResourceMemory)
	if cpu != memory {
		return corev1.PodQOSBurstable
	}
	return cpu
}

// resourceClass is the shape of one resource; an absent value counts as zero
// and quantities compare by value.
func resourceClass(r *corev1.ResourceRequirements, name corev1.ResourceName) corev1.PodQOSClass {
	request, limit := r.Requests[name], r.Limits[name]
	switch {
	case !request.Equal(limit):
		return corev1.PodQOSBurstable
	case request.IsZero():
		return corev1.PodQOSBestEffort
	}
	return corev1.PodQOSGuaranteed
}

// Rank orders the classes from BestEffort (0) to Guaranteed (2); anything else
// ranks lowest, at -1.
func Rank(class corev1.PodQOSClass) int {
	switch class {
	case corev1.PodQOSBestEffort:
		return 0
	case corev1.PodQOSBurstable:
		return 1
	case corev1.PodQOSGuaranteed:
		return 2
	}
	return -1
}
