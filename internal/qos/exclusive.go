package qos

import (
	"fmt"

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
	if resourcehelper.IsPodLevelResourcesSet(pod) && (g.Since(36) || g.Enabled(gatePodLevelResources)) {
		if !g.Enabled(gatePodLevelManagers) || !g.Enabled(gatePodLevelResources) {
			return 0, "the pod has pod-level resources and the gate " + gatePodLevelManagers + " is off"
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
