package admission

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/kqos/kqos/internal/kubelet"
)

// resolvePriority sets spec.priority from the class. The input speaks for the
// cluster's classes as soon as it holds one PriorityClass: then the two that
// every cluster has count as well and an unknown name is refused. Otherwise
// the priority stays as written.
//
// kubernetes v1.37: plugin/pkg/admission/priority/admission.go admitPod.
func resolvePriority(pod *corev1.Pod, classes []*schedulingv1.PriorityClass) []string {
	name := pod.Spec.PriorityClassName
	if len(classes) == 0 {
		if name == "" || pod.Spec.Priority != nil {
			return nil
		}
		return []string{fmt.Sprintf("priorityClassName %s stays unresolved: give its PriorityClass among the inputs or set spec.priority%s", name, builtInHint(name))}
	}
	class := findPriorityClass(name, classes)
	if name == "" {
		class = defaultPriorityClass(classes)
	}
	if class == nil {
		return []string{refused(fmt.Sprintf("no PriorityClass with name %s was found among the inputs", name))}
	}
	var warnings []string
	if p := pod.Spec.Priority; p != nil && *p != class.Value {
		warnings = append(warnings, refused(fmt.Sprintf("spec.priority %d differs from %d, the value of its PriorityClass", *p, class.Value)))
	}
	pod.Spec.PriorityClassName, pod.Spec.Priority = class.Name, &class.Value
	return warnings
}

// builtInHint names the value that the API server would set for a class that
// every cluster has.
func builtInHint(name string) string {
	if class := findPriorityClass(name, nil); class != nil {
		return fmt.Sprintf(" (the API server sets %d)", class.Value)
	}
	return ""
}

func findPriorityClass(name string, classes []*schedulingv1.PriorityClass) *schedulingv1.PriorityClass {
	for _, class := range classes {
		if class.Name == name {
			return class
		}
	}
	class := &schedulingv1.PriorityClass{}
	class.Name = name
	switch name {
	case kubelet.SystemNodeCritical:
		class.Value = kubelet.SystemNodeCriticalPriority
	case kubelet.SystemClusterCritical:
		class.Value = kubelet.SystemClusterCriticalPriority
	default:
		return nil
	}
	return class
}

// defaultPriorityClass is the global default, the lowest of several, else a
// nameless class of value 0.
func defaultPriorityClass(classes []*schedulingv1.PriorityClass) *schedulingv1.PriorityClass {
	var lowest *schedulingv1.PriorityClass
	for _, class := range classes {
		if class.GlobalDefault && (lowest == nil || class.Value < lowest.Value) {
			lowest = class
		}
	}
	if lowest == nil {
		return &schedulingv1.PriorityClass{}
	}
	return lowest
}
