package admission

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// applyRuntimeClass sets spec.overhead from the pod's RuntimeClass. A class
// that is not among the inputs leaves the overhead as written.
//
// kubernetes v1.37: plugin/pkg/admission/runtimeclass/admission.go setOverhead,
// validateOverhead.
func applyRuntimeClass(pod *corev1.Pod, classes []*nodev1.RuntimeClass) []string {
	if pod.Spec.RuntimeClassName == nil {
		if pod.Spec.Overhead != nil {
			return []string{"spec.overhead is set without a RuntimeClass: the API server would refuse that, it counts as written"}
		}
		return nil
	}
	name := *pod.Spec.RuntimeClassName
	for _, class := range classes {
		if class.Name == name {
			return setOverhead(pod, class)
		}
	}
	if len(pod.Spec.Overhead) > 0 {
		return nil
	}
	return []string{fmt.Sprintf("RuntimeClass %s is not among the inputs: an overhead that it sets is missing here", name)}
}

func setOverhead(pod *corev1.Pod, class *nodev1.RuntimeClass) []string {
	if class.Overhead == nil {
		if pod.Spec.Overhead != nil {
			return []string{refused(fmt.Sprintf("spec.overhead is set, but RuntimeClass %s defines none", class.Name))}
		}
		return nil
	}
	overhead := class.Overhead.PodFixed.DeepCopy()
	roundUp(overhead)
	var warnings []string
	if len(pod.Spec.Overhead) > 0 && !equality.Semantic.DeepEqual(overhead, pod.Spec.Overhead) {
		warnings = append(warnings, refused(fmt.Sprintf("spec.overhead differs from that of RuntimeClass %s, which counts here", class.Name)))
	}
	pod.Spec.Overhead = overhead
	return warnings
}
