package admission

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// applyLimitRanges fills limits and requests that containers lack from the
// LimitRanges of the pod's namespace. Requests were filled from the pod's own
// limits before, so those win over a default request; a limit filled here no
// longer gives a request.
//
// kubernetes v1.37: plugin/pkg/admission/limitranger/admission.go
// mergePodResourceRequirements.
func applyLimitRanges(pod *corev1.Pod, ranges []*corev1.LimitRange) []string {
	ranges = inNamespace(ranges, pod.Namespace)
	var warnings []string
	if len(ranges) > 1 {
		warnings = append(warnings, fmt.Sprintf("namespace %s has %d LimitRanges: the first in the input is applied first, a cluster chooses at random", namespaceOf(pod.Namespace), len(ranges)))
	}
	for _, r := range ranges {
		defaults := containerDefaults(r)
		for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for i := range list {
				fillResources(&list[i].Resources, defaults)
			}
		}
	}
	return warnings
}

func fillResources(r *corev1.ResourceRequirements, defaults corev1.ResourceRequirements) {
	for name, q := range defaults.Limits {
		setMissing(&r.Limits, name, q)
	}
	for name, q := range defaults.Requests {
		setMissing(&r.Requests, name, q)
	}
}

// containerDefaults joins the defaults of one LimitRange; a later item wins
// over an earlier one.
func containerDefaults(r *corev1.LimitRange) corev1.ResourceRequirements {
	out := corev1.ResourceRequirements{Limits: corev1.ResourceList{}, Requests: corev1.ResourceList{}}
	for i := range r.Spec.Limits {
		item := r.Spec.Limits[i].DeepCopy()
		if item.Type != corev1.LimitTypeContainer {
			continue
		}
		defaultLimitRangeItem(item)
		maps.Copy(out.Limits, item.Default)
		maps.Copy(out.Requests, item.DefaultRequest)
	}
	return out
}

// defaultLimitRangeItem is what the API server did when the LimitRange itself
// was created: default from max, default request from default, then from min.
//
// kubernetes v1.37: pkg/apis/core/v1/defaults.go SetDefaults_LimitRangeItem.
func defaultLimitRangeItem(item *corev1.LimitRangeItem) {
	for _, list := range []corev1.ResourceList{item.Max, item.Min, item.Default, item.DefaultRequest, item.MaxLimitRequestRatio} {
		roundUp(list)
	}
	for name, q := range item.Max {
		setMissing(&item.Default, name, q)
	}
	for name, q := range item.Default {
		setMissing(&item.DefaultRequest, name, q)
	}
	for name, q := range item.Min {
		setMissing(&item.DefaultRequest, name, q)
	}
}

func inNamespace(ranges []*corev1.LimitRange, namespace string) []*corev1.LimitRange {
	var out []*corev1.LimitRange
	for _, r := range ranges {
		if namespaceOf(r.Namespace) == namespaceOf(namespace) {
			out = append(out, r)
		}
	}
	return out
}

func namespaceOf(namespace string) string {
	if namespace == "" {
		return metav1.NamespaceDefault
	}
	return namespace
}
