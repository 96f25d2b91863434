package qos

import (
	corev1 "k8s.io/api/core/v1"
)

// Annotations by which the kubelet tells where a pod came from.
//
// kubelet v1.37: pkg/kubelet/types/pod_update.go.
const (
	SourceAnnotation = "kubernetes.io/config.source"
	MirrorAnnotation = "kubernetes.io/config.mirror"
	sourceAPI        = "api"
)

// The priority classes that every cluster has, and the priority from which a
// pod is critical.
//
// kubelet v1.37: pkg/apis/scheduling/types.go.
const (
	SystemNodeCritical            = "system-node-critical"
	SystemClusterCritical         = "system-cluster-critical"
	SystemCriticalPriority        = 2 * 1_000_000_000
	SystemNodeCriticalPriority    = SystemCriticalPriority + 1000
	SystemClusterCriticalPriority = SystemCriticalPriority
)

// IsStatic tells whether the pod came from a file or a URL, not from the API.
func IsStatic(pod *corev1.Pod) bool {
	source, ok := pod.Annotations[SourceAnnotation]
	return ok && source != sourceAPI
}

// IsCritical tells whether the kubelet takes the pod for critical: static,
// mirror of a static pod, or with a resolved spec.priority that high. A
// priority class name alone is not enough.
//
// kubelet v1.37: pkg/kubelet/types/pod_update.go IsCriticalPod.
func IsCritical(pod *corev1.Pod) bool {
	_, mirror := pod.Annotations[MirrorAnnotation]
	return mirror || IsStatic(pod) || pod.Spec.Priority != nil && *pod.Spec.Priority >= SystemCriticalPriority
}

// IsNodeCritical tells whether the pod is critical and of the class
// system-node-critical, the only one that the OOM score protects.
//
// kubelet v1.37: pkg/kubelet/types/pod_update.go IsNodeCriticalPod.
func IsNodeCritical(pod *corev1.Pod) bool {
	return IsCritical(pod) && pod.Spec.PriorityClassName == SystemNodeCritical
}
