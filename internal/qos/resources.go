package qos

import (
	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kqos/kqos/internal/kubelet"
)

// Requests are the pod's effective requests as the kubelet's cgroup code asks
// for them: the larger of app containers with sidecars and the init sequence,
// replaced by pod-level requests, plus overhead.
//
// kubelet v1.37: cm/helpers_linux.go ResourceConfigForPod.
func Requests(pod *corev1.Pod, g kubelet.Gates) corev1.ResourceList {
	return counted(PodRequests(pod, options(g)))
}

// Limits are the pod's effective limits, summed like Requests. A container
// without a limit adds nothing, so a sum says nothing on whether the pod cgroup
// is limited at all.
//
// kubelet v1.37: cm/helpers_linux.go ResourceConfigForPod.
func Limits(pod *corev1.Pod, g kubelet.Gates) corev1.ResourceList {
	return counted(podLimits(pod, options(g)))
}

// RequestsWithStatus are the requests as a scheduler counts them during an
// in-place resize: per resource the largest of spec, allocated and actuated,
// without the spec where the resize is infeasible.
func RequestsWithStatus(pod *corev1.Pod, g kubelet.Gates) corev1.ResourceList {
	return counted(PodRequests(pod, statusOptions(g)))
}

// LimitsWithStatus are the limits counted like RequestsWithStatus.
func LimitsWithStatus(pod *corev1.Pod, g kubelet.Gates) corev1.ResourceList {
	return counted(podLimits(pod, statusOptions(g)))
}

// PodRequests is the helper that scheduler and kubelet share, on a copy of the
// pod-level amounts: where one is no plain integer, such as 1.5Gi in a file, the
// helper adds the overhead to the pod itself, and again at each call. The kubelet
// has that fault; the value here is that of its first call.
func PodRequests(pod *corev1.Pod, o resourcehelper.PodResourcesOptions) corev1.ResourceList {
	return resourcehelper.PodRequests(ownPodLevel(pod), o)
}

// podLimits are the limits summed in the way of PodRequests.
func podLimits(pod *corev1.Pod, o resourcehelper.PodResourcesOptions) corev1.ResourceList {
	return resourcehelper.PodLimits(ownPodLevel(pod), o)
}

func ownPodLevel(pod *corev1.Pod) *corev1.Pod {
	if pod.Spec.Resources == nil || len(pod.Spec.Overhead) == 0 {
		return pod
	}
	own := *pod
	own.Spec.Resources = pod.Spec.Resources.DeepCopy()
	return &own
}

// HasStatusResources tells whether the status reports resources, so that the
// two views of a resize may differ.
func HasStatusResources(pod *corev1.Pod) bool {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			if list[i].AllocatedResources != nil || list[i].Resources != nil {
				return true
			}
		}
	}
	return pod.Status.AllocatedResources != nil || pod.Status.Resources != nil
}

// IsSidecar tells whether an init container restarts always, and so runs beside
// the app containers. The same policy on an app container makes no sidecar: ask
// this only of init containers.
func IsSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == restartAlways
}

func options(g kubelet.Gates) resourcehelper.PodResourcesOptions {
	return resourcehelper.PodResourcesOptions{
		SkipPodLevelResources:                    !g.Enabled(kubelet.GatePodLevelResources),
		UseDRANodeAllocatableResourceClaimStatus: g.Enabled(kubelet.GateDRANodeAllocatable),
	}
}

func statusOptions(g kubelet.Gates) resourcehelper.PodResourcesOptions {
	o := options(g)
	o.UseStatusResources = true
	o.InPlacePodLevelResourcesVerticalScalingEnabled = g.Enabled(kubelet.GatePodLevelResize)
	return o
}
