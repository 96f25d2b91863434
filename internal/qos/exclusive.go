package qos

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kqos/kqos/internal/kubelet"
)

// ExclusiveCPUs is the number of CPUs that the static CPU manager policy gives
// the container for itself, 0 for none, and why.
//
// kubelet v1.37: cm/cpumanager/policy_static.go guaranteedCPUs, allocateForAdd.
func ExclusiveCPUs(pod *corev1.Pod, c *corev1.Container, g kubelet.Gates) (n int, why string) {
	if class := Class(pod, g); class != corev1.PodQOSGuaranteed {
		return 0, fmt.Sprintf("the pod is %s, not Guaranteed", class)
	}
	// Before 1.36 the gate PodLevelResources alone decided, and off it changed
	// nothing.
	if resourcehelper.IsPodLevelResourcesSet(pod) && (g.Since(36) || g.Enabled(kubelet.GatePodLevelResources)) {
		if !g.Enabled(kubelet.GatePodLevelManagers) || !g.Enabled(kubelet.GatePodLevelResources) {
			return 0, "the pod has pod-level resources and the gate " + kubelet.GatePodLevelManagers + " is off"
		}
		if !RequestsEqualLimits(c) {
			return 0, "in a pod with pod-level resources the container's own requests and limits of cpu and memory must be equal and above zero"
		}
	}
	request, set := c.Resources.Requests[corev1.ResourceCPU]
	switch {
	case !set || request.IsZero():
		return 0, "the container requests no cpu"
	case request.Value()*millisPerCPU != request.MilliValue():
		return 0, fmt.Sprintf("the cpu request %s is no whole number", &request)
	}
	return int(request.Value()), fmt.Sprintf("Guaranteed pod and a whole cpu request (%s)", &request)
}

// RequestsEqualLimits tells whether the container by itself looks Guaranteed.
//
// kubelet v1.37: cm/qos/helpers.go IsContainerEquivalentQOSGuaranteed.
func RequestsEqualLimits(c *corev1.Container) bool {
	return requirementsClass(&c.Resources) == corev1.PodQOSGuaranteed
}

// Isolated tells whether a container has CPUs for itself, which lifts its CPU
// quota. assigned says that the CPU manager keeps an entry for it: in a pod with
// pod-level resources the containers that share the pod's CPUs have one, too.
//
// kubelet v1.37: cm/cpumanager/cpu_manager.go GetResourceIsolationLevel.
func Isolated(pod *corev1.Pod, c *corev1.Container, assigned bool, g kubelet.Gates) bool {
	if !assigned || !ManagedAsWhole(pod, g) {
		return assigned
	}
	limit := c.Resources.Limits[corev1.ResourceCPU]
	return RequestsEqualLimits(c) && limit.Value()*millisPerCPU == limit.MilliValue()
}

// PodIsolated tells whether the CPU quota of the pod as a whole is lifted: where
// one of its init and app containers has CPUs for itself, or, in a pod with
// pod-level resources, all of them.
//
// kubelet v1.37: cm/container_manager_linux.go PodHasExclusiveCPUs.
func PodIsolated(pod *corev1.Pod, assigned func(*corev1.Container) bool, g kubelet.Gates) bool {
	isolated := func(c corev1.Container) bool { return Isolated(pod, &c, assigned(&c), g) }
	if ManagedAsWhole(pod, g) {
		shared := func(c corev1.Container) bool { return !isolated(c) }
		return !slices.ContainsFunc(pod.Spec.InitContainers, shared) && !slices.ContainsFunc(pod.Spec.Containers, shared)
	}
	return slices.ContainsFunc(pod.Spec.InitContainers, isolated) || slices.ContainsFunc(pod.Spec.Containers, isolated)
}

// ManagedAsWhole tells whether the managers place the pod as a whole, by its own
// resources. Their gate is refused without that of the resources.
func ManagedAsWhole(pod *corev1.Pod, g kubelet.Gates) bool {
	return g.Enabled(kubelet.GatePodLevelManagers) && resourcehelper.IsPodLevelResourcesSet(pod)
}
