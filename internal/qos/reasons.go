package qos

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
)

// Reason is one cause that keeps a pod out of the next better class.
type Reason struct {
	// Container is empty where the cause lies in the pod itself.
	Container string `json:"container,omitempty"`
	// Resource is cpu or memory, empty where neither is the cause.
	Resource string `json:"resource,omitempty"`
	Message  string `json:"message"`
	// Fix says in words what Changes does.
	Fix string `json:"fix"`
	// Changes of the spec that take this cause away. Those of all reasons
	// together raise the class; without one of them it stays.
	Changes []Change `json:"changes,omitempty"`
}

// Change sets one field of the pod.
type Change struct {
	// Path is the field's path in the pod, such as
	// spec.containers[0].resources.limits.cpu.
	Path string `json:"path"`
	// To is the quantity to write there.
	To string `json:"to"`
}

// Reasons says why the pod is not in the next better class and the smallest
// change that would put it there; it is empty for a Guaranteed pod. A BestEffort
// pod becomes Burstable by one request; a Burstable pod becomes Guaranteed once
// cpu and memory of every container have requests equal to limits.
func Reasons(pod *corev1.Pod, g kubelet.Gates) []Reason {
	class, computed := Class(pod, g), ComputeClass(pod, g)
	if class == corev1.PodQOSGuaranteed {
		return nil
	}
	var reasons []Reason
	if class != computed {
		reasons = append(reasons, Reason{
			Message: fmt.Sprintf("status.qosClass says %s and the kubelet believes it; the spec alone means %s", class, computed),
			Fix:     "create the pod anew: the class is set at creation and never changes",
		})
	}
	switch {
	case Rank(computed) > Rank(class):
		return reasons
	case class == corev1.PodQOSBestEffort:
		return append(reasons, bestEffortReason(pod, g))
	}
	if podLevelDecides(pod, g) {
		return append(reasons, shapeReasons(site{path: "spec.resources", r: pod.Spec.Resources})...)
	}
	for i := range pod.Spec.InitContainers {
		reasons = append(reasons, shapeReasons(containerSite("spec.initContainers", i, &pod.Spec.InitContainers[i]))...)
	}
	for i := range pod.Spec.Containers {
		reasons = append(reasons, shapeReasons(containerSite("spec.containers", i, &pod.Spec.Containers[i]))...)
	}
	return reasons
}

// The amounts proposed where a pod says nothing that could be taken over.
const (
	exampleCPU    = "100m"
	exampleMemory = "128Mi"
)

// bestEffortReason asks for memory rather than cpu: a memory request also
// lowers the OOM score.
func bestEffortReason(pod *corev1.Pod, g kubelet.Gates) Reason {
	if podLevelDecides(pod, g) {
		return Reason{
			Resource: "memory", Message: "spec.resources alone decides the class and names neither cpu nor memory",
			Fix:     "set requests.memory in spec.resources, such as " + exampleMemory,
			Changes: []Change{{"spec.resources.requests.memory", exampleMemory}},
		}
	}
	if len(pod.Spec.Containers) == 0 {
		return Reason{Message: "the pod has no containers", Fix: "add a container with a memory request"}
	}
	return Reason{
		Container: pod.Spec.Containers[0].Name, Resource: "memory",
		Message: "no container requests or limits cpu or memory",
		Fix:     "set requests.memory of one container, such as " + exampleMemory,
		Changes: []Change{{"spec.containers[0].resources.requests.memory", exampleMemory}},
	}
}

// site is one pair of requests and limits and where it stands.
type site struct {
	container, path string
	r               *corev1.ResourceRequirements
}

func containerSite(list string, i int, c *corev1.Container) site {
	return site{container: c.Name, path: fmt.Sprintf("%s[%d].resources", list, i), r: &c.Resources}
}

// shapeReasons lists the resources that are not requested exactly as limited.
func shapeReasons(s site) []Reason {
	var reasons []Reason
	for _, name := range classResources() {
		if resourceClass(s.r, name) != corev1.PodQOSGuaranteed {
			reasons = append(reasons, s.reason(name))
		}
	}
	return reasons
}

// reason keeps the limit where there is one, since it is what the program was
// made to live with, and raises the request; a request above its limit is the
// exception, where the limit must move.
func (s site) reason(name corev1.ResourceName) Reason {
	out := Reason{Container: s.container, Resource: string(name)}
	request, limit := s.r.Requests[name], s.r.Limits[name]
	change := func(field string, to resource.Quantity) {
		out.Changes = append(out.Changes, Change{s.path + "." + field + "." + string(name), to.String()})
		out.Fix = "set " + field + "." + string(name) + " to " + to.String()
	}
	switch {
	case request.IsZero() && limit.IsZero():
		to := resource.MustParse(exampleMemory)
		if name == corev1.ResourceCPU {
			to = resource.MustParse(exampleCPU)
		}
		out.Message = fmt.Sprintf("%s has neither request nor limit", name)
		change("requests", to)
		change("limits", to)
		out.Fix = fmt.Sprintf("set requests.%s and limits.%s to one value, such as %s", name, name, &to)
	case limit.IsZero():
		out.Message = string(name) + " has no limit"
		change("limits", request)
	case request.IsZero():
		out.Message = string(name) + " has no request"
		change("requests", limit)
	case request.Cmp(limit) > 0:
		out.Message = fmt.Sprintf("%s request %s is above its limit %s", name, &request, &limit)
		change("limits", request)
	default:
		out.Message = fmt.Sprintf("%s request %s is below its limit %s", name, &request, &limit)
		change("requests", limit)
	}
	return out
}
