package admission

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/quantity"
)

// invalidResources tells, with their paths, the quantities that API validation
// refuses or that the kubelet counts otherwise than they read. The pod is
// computed with all the same.
func invalidResources(pod *corev1.Pod) []string {
	var out []string
	if pod.Spec.Resources != nil {
		out = append(out, invalidPair("spec.resources", pod.Spec.Resources)...)
	}
	for i := range pod.Spec.InitContainers {
		out = append(out, invalidPair(fmt.Sprintf("spec.initContainers[%d].resources", i), &pod.Spec.InitContainers[i].Resources)...)
	}
	for i := range pod.Spec.Containers {
		out = append(out, invalidPair(fmt.Sprintf("spec.containers[%d].resources", i), &pod.Spec.Containers[i].Resources)...)
	}
	return append(out, invalidList("spec.overhead", pod.Spec.Overhead)...)
}

func invalidPair(path string, r *corev1.ResourceRequirements) []string {
	out := append(invalidList(path+".limits", r.Limits), invalidList(path+".requests", r.Requests)...)
	for name, request := range r.Requests {
		if limit, ok := r.Limits[name]; ok && request.Cmp(limit) > 0 {
			out = append(out, invalid(fmt.Sprintf("%s.requests.%s: %s is above the limit of %s", path, name, &request, &limit)))
		}
	}
	slices.Sort(out)
	return out
}

func invalidList(path string, list corev1.ResourceList) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		switch {
		case q.Sign() < 0:
			out = append(out, invalid(fmt.Sprintf("%s.%s: %s is below 0", path, name, &q)))
		case quantity.BeyondInt64(name, q):
			out = append(out, fmt.Sprintf("%s.%s: %s is beyond the int64 that the kubelet counts in, which reads something else: write a smaller quantity", path, name, &q))
		}
	}
	return out
}

// invalid words what the API server, and the kubelet for a static pod, refuses.
func invalid(why string) string { return "API validation refuses the pod: " + why }
