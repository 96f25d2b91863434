package admission

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kqos/kqos/internal/kubelet"
)

// limitRangeViolations tells which bounds of its namespace's LimitRanges the
// completed pod breaks.
//
// kubernetes v1.37: plugin/pkg/admission/limitranger/admission.go
// PodValidateLimitFunc.
func limitRangeViolations(pod *corev1.Pod, ranges []*corev1.LimitRange, g kubelet.Gates) []string {
	var out []string
	for _, r := range inNamespace(ranges, pod.Namespace) {
		for i := range r.Spec.Limits {
			switch item := &r.Spec.Limits[i]; item.Type {
			case corev1.LimitTypeContainer:
				for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
					for j := range list {
						out = append(out, broken(item, "container "+list[j].Name, list[j].Resources.Requests, list[j].Resources.Limits)...)
					}
				}
			case corev1.LimitTypePod:
				options := resourcehelper.PodResourcesOptions{ExcludeOverhead: true, SkipPodLevelResources: !g.Enabled(kubelet.GatePodLevelResources)}
				out = append(out, broken(item, "the pod", resourcehelper.PodRequests(pod, options), resourcehelper.PodLimits(pod, options))...)
			}
		}
	}
	return out
}

// broken lists the bounds of one item that requests and limits of who break.
func broken(item *corev1.LimitRangeItem, who string, requests, limits corev1.ResourceList) []string {
	var out []string
	tell := func(format string, args ...any) {
		out = append(out, refused(fmt.Sprintf("LimitRange: "+format, args...)+" ("+who+")"))
	}
	for _, name := range slices.Sorted(maps.Keys(item.Min)) {
		bound := item.Min[name]
		request, requested := requests[name]
		limit, limited := limits[name]
		switch {
		case !requested:
			tell("minimum %s is %s, but no request is set", name, &bound)
		case request.Cmp(bound) < 0:
			tell("minimum %s is %s, but the request is %s", name, &bound, &request)
		case limited && limit.Cmp(bound) < 0:
			tell("minimum %s is %s, but the limit is %s", name, &bound, &limit)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(item.Max)) {
		bound := item.Max[name]
		request := requests[name]
		limit, limited := limits[name]
		switch {
		case !limited:
			tell("maximum %s is %s, but no limit is set", name, &bound)
		case limit.Cmp(bound) > 0:
			tell("maximum %s is %s, but the limit is %s", name, &bound, &limit)
		case request.Cmp(bound) > 0:
			tell("maximum %s is %s, but the request is %s", name, &bound, &request)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(item.MaxLimitRequestRatio)) {
		bound, request, limit := item.MaxLimitRequestRatio[name], requests[name], limits[name]
		if exceedsRatio(limit, request, bound) {
			tell("limit of %s may be at most %s times the request, but limit %s and request %s are set", name, &bound, &limit, &request)
		}
	}
	return out
}

// exceedsRatio is true as well where request or limit is missing.
func exceedsRatio(limit, request, bound resource.Quantity) bool {
	if limit.IsZero() || request.IsZero() {
		return true
	}
	return limit.AsApproximateFloat64()/request.AsApproximateFloat64() > bound.AsApproximateFloat64()
}
