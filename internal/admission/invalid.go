package admission

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
)

// invalidResources tells, with their paths, the resources that API validation
// refuses or that the kubelet counts otherwise than they read. The pod is
// computed with all the same.
//
// kubernetes v1.37: pkg/apis/core/validation/validation.go
// validateResourceRequirements, validatePodResources, validateOverhead.
func invalidResources(pod *corev1.Pod, g kubelet.Gates) []string {
	var out []string
	if pod.Spec.Resources != nil && g.Enabled(kubelet.GatePodLevelResources) {
		out = append(out, invalidPodLevel(pod)...)
	}
	for i := range pod.Spec.InitContainers {
		out = append(out, invalidPair(func() string { return fmt.Sprintf("spec.initContainers[%d].resources", i) }, &pod.Spec.InitContainers[i].Resources, invalidName)...)
	}
	for i := range pod.Spec.Containers {
		out = append(out, invalidPair(func() string { return fmt.Sprintf("spec.containers[%d].resources", i) }, &pod.Spec.Containers[i].Resources, invalidName)...)
	}
	out = append(out, invalidList("spec.overhead", pod.Spec.Overhead, invalidName)...)
	return append(out, hugePagesAlone("spec.overhead", pod.Spec.Overhead)...)
}

// invalidPair judges requests and limits of one container or pod; path is asked
// for where it is told.
func invalidPair(path func() string, r *corev1.ResourceRequirements, name func(corev1.ResourceName) string) []string {
	if len(r.Limits)+len(r.Requests) == 0 {
		return nil
	}
	at := path()
	out := append(invalidList(at+".limits", r.Limits, name), invalidList(at+".requests", r.Requests, name)...)
	for resource, request := range r.Requests {
		limit, limited := r.Limits[resource]
		overcommit := native(resource) && !quantity.IsHugePages(resource)
		switch {
		case !limited && !overcommit:
			out = append(out, invalid(fmt.Sprintf("%s.limits.%s: is missing: what can't be overcommitted has a limit, equal to its request", at, resource)))
		case limited && request.Cmp(limit) > 0:
			out = append(out, invalid(fmt.Sprintf("%s.requests.%s: %s is above the limit of %s", at, resource, &request, &limit)))
		case limited && !overcommit && request.Cmp(limit) != 0:
			out = append(out, invalid(fmt.Sprintf("%s.requests.%s: %s is not the limit of %s: what can't be overcommitted has equal ones", at, resource, &request, &limit)))
		}
	}
	slices.Sort(out)
	return append(out, hugePagesAlone(at, r.Limits, r.Requests)...)
}

// hugePagesAlone tells huge pages without cpu or memory beside them.
func hugePagesAlone(path string, lists ...corev1.ResourceList) []string {
	huge := false
	for _, list := range lists {
		for name := range list {
			if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
				return nil
			}
			huge = huge || quantity.IsHugePages(name)
		}
	}
	if !huge {
		return nil
	}
	return []string{invalid(path + ": huge pages require cpu or memory")}
}

func invalidList(path string, list corev1.ResourceList, invalidName func(corev1.ResourceName) string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		if why := invalidName(name); why != "" {
			out = append(out, invalid(fmt.Sprintf("%s.%s: %s", path, name, why)))
		}
		switch {
		case q.Sign() < 0:
			out = append(out, invalid(fmt.Sprintf("%s.%s: %s is below 0", path, name, &q)))
		case extended(name) && q.MilliValue()%1000 != 0:
			out = append(out, invalid(fmt.Sprintf("%s.%s: %s is no whole number", path, name, &q)))
		case quantity.IsHugePages(name) && !wholePages(name, q):
			out = append(out, invalid(fmt.Sprintf("%s.%s: %s is no whole number of such pages", path, name, &q)))
		case quantity.BeyondInt64(name, q):
			out = append(out, fmt.Sprintf("%s.%s: %s is beyond the int64 that the kubelet counts in, which reads something else: write a smaller quantity", path, name, &q))
		}
	}
	return out
}

// invalidPodLevel judges spec.resources by itself and beside the containers.
//
// kubernetes v1.37: pkg/apis/core/validation/validation.go
// validatePodResourceConsistency.
func invalidPodLevel(pod *corev1.Pod) []string {
	const path = "spec.resources"
	r := pod.Spec.Resources
	if pod.Spec.OS != nil && pod.Spec.OS.Name == corev1.Windows {
		return []string{invalid(path + ": may not be set for a windows pod")}
	}
	var out []string
	if r.Claims != nil {
		out = append(out, invalid(path+".claims: may not be set at pod level"))
	}
	out = append(out, invalidPair(func() string { return path }, r, invalidPodLevelName)...)
	out = append(out, aboveList(path+".requests", "sum of the containers' requests", resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{}), r.Requests)...)
	huge := resourcehelper.AggregateContainerLimits(pod, resourcehelper.PodResourcesOptions{})
	maps.DeleteFunc(huge, func(name corev1.ResourceName, _ resource.Quantity) bool { return !quantity.IsHugePages(name) })
	out = append(out, aboveList(path+".limits", "sum of the containers' limits", huge, r.Limits)...)
	for i := range pod.Spec.Containers {
		out = append(out, aboveList(path+".limits", fmt.Sprintf("limit of spec.containers[%d]", i), pod.Spec.Containers[i].Resources.Limits, r.Limits)...)
	}
	return out
}

// aboveList tells what is above the amount that the pod has.
func aboveList(path, what string, amounts, of corev1.ResourceList) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		amount := amounts[name]
		if pod, ok := of[name]; ok && amount.Cmp(pod) > 0 {
			out = append(out, invalid(fmt.Sprintf("%s.%s: %s is below the %s, %s", path, name, &pod, what, &amount)))
		}
	}
	return out
}

// invalid words what the API server, and the kubelet for a static pod, refuses.
func invalid(why string) string { return "API validation refuses the pod: " + why }
