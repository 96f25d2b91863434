package qos

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
)

// isStatic tells whether the pod came from a file or a URL, not from the API.
func isStatic(pod *corev1.Pod) bool {
	source, ok := pod.Annotations[kubelet.SourceAnnotation]
	return ok && source != kubelet.SourceAPI
}

// IsCritical tells whether the kubelet takes the pod for critical: static,
// mirror of a static pod, or with a resolved spec.priority that high. A
// priority class name alone is not enough.
//
// kubelet v1.37: pkg/kubelet/types/pod_update.go IsCriticalPod.
func IsCritical(pod *corev1.Pod) bool {
	_, mirror := pod.Annotations[kubelet.MirrorAnnotation]
	return mirror || isStatic(pod) || pod.Spec.Priority != nil && *pod.Spec.Priority >= kubelet.SystemCriticalPriority
}

// IsNodeCritical tells whether the pod is critical and of the class
// system-node-critical, the only one that the OOM score protects.
//
// kubelet v1.37: pkg/kubelet/types/pod_update.go IsNodeCriticalPod.
func IsNodeCritical(pod *corev1.Pod) bool {
	return IsCritical(pod) && pod.Spec.PriorityClassName == kubelet.SystemNodeCritical
}
