package admission

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kqos/kqos/internal/kubelet"
)

// readStatic is what a pod file of the static pod folder goes through: the
// decoder's defaults and the marks by which the kubelet knows it as static, and
// so as critical. Nothing resolves its priority, adds overhead or computes its
// class.
//
// kubelet v1.37: pkg/kubelet/config/common.go applyDefaults.
func readStatic(pod *corev1.Pod, g kubelet.Gates) []string {
	setDefaults(pod, g)
	if pod.Namespace == "" {
		pod.Namespace = metav1.NamespaceDefault
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[kubelet.SourceAnnotation] = kubelet.SourceFile
	pod.Status.Phase = corev1.PodPending
	told := staticRefusals(pod)
	if pod.Name != "" {
		told = append(told, invalidNames(pod, shortestNode)...)
	}
	return append(told, invalidResources(pod, g)...)
}

// shortestNode stands for the name of the node, which the kubelet appends to
// that of the pod before it validates it.
const shortestNode = "-n"

// staticRefusals are the reasons for which the kubelet would not run the file,
// or would run it otherwise than it reads.
//
// kubelet v1.37: pkg/kubelet/config/common.go tryDecodeSinglePod.
func staticRefusals(pod *corev1.Pod) []string {
	var warnings []string
	if pod.Name == "" {
		warnings = append(warnings, "the kubelet would refuse the file: name is needed for the pod")
	}
	if len(pod.Spec.EphemeralContainers) > 0 {
		warnings = append(warnings, invalid("spec.ephemeralContainers: cannot be set on create"))
	}
	if object := reference(&pod.Spec); object != "" {
		warnings = append(warnings, "the kubelet would refuse the file: static pods may not reference "+object)
	}
	if pod.Spec.Priority == nil && pod.Spec.PriorityClassName != "" && pod.Spec.PriorityClassName != kubelet.SystemNodeCritical {
		warnings = append(warnings, "nothing resolves priorityClassName "+pod.Spec.PriorityClassName+" of a static pod: set spec.priority beside it")
	}
	return warnings
}
