package gen

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// Pod generates pods as a kubelet may hold them: containers of all kinds, odd
// quantities, pod-level resources, overhead, status of a resize, sources.
func Pod() *rapid.Generator[*corev1.Pod] { return pod(func(bool) bool { return true }) }

// ValidPod generates pods of quantities that the API server accepts: none
// negative, no request above its limit. Kinds and combinations are as in Pod.
func ValidPod() *rapid.Generator[*corev1.Pod] { return pod(func(odd bool) bool { return !odd }) }

func pod(take func(odd bool) bool) *rapid.Generator[*corev1.Pod] {
	return rapid.Custom(func(t *rapid.T) *corev1.Pod {
		odd := take(true) && rapid.IntRange(0, 3).Draw(t, "odd quantities") == 0
		uid := rapid.SampledFrom([]string{"cc32f315-98f7-4d58-8700-df9e05ddda2c", "0", "abc", "de07025ac-c93"}).Draw(t, "uid")
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", UID: types.UID(uid)}}
		p.Spec.Containers = containers(t, "app", 1, 3, odd)
		p.Spec.InitContainers = containers(t, "init", 0, 3, odd)
		always := corev1.ContainerRestartPolicyAlways
		for i := range p.Spec.InitContainers {
			if rapid.Bool().Draw(t, "sidecar") {
				p.Spec.InitContainers[i].RestartPolicy = &always
			}
		}
		if rapid.IntRange(0, 15).Draw(t, "restart rule") == 0 {
			p.Spec.Containers[0].RestartPolicy = &always
		}
		for _, c := range containers(t, "debug", 0, 1, odd) {
			p.Spec.EphemeralContainers = append(p.Spec.EphemeralContainers, corev1.EphemeralContainer{
				EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: c.Name, Image: c.Image, Resources: c.Resources},
			})
		}
		if rapid.IntRange(0, 3).Draw(t, "pod level") == 0 {
			r := requirements(t, "pod level", odd, podResources())
			p.Spec.Resources = &r
		}
		if rapid.IntRange(0, 3).Draw(t, "overhead") == 0 {
			p.Spec.Overhead = list(t, "overhead", odd, podResources())
		}
		identity(t, p)
		status(t, p, odd)
		return p
	})
}

// identity draws what makes a pod critical, and where it came from.
func identity(t *rapid.T, p *corev1.Pod) {
	if rapid.IntRange(0, 3).Draw(t, "priority") == 0 {
		n := rapid.SampledFrom([]int32{0, -1, 1000, 1999999999, 2000000000, 2000001000}).Draw(t, "value")
		p.Spec.Priority = &n
		p.Spec.PriorityClassName = rapid.SampledFrom([]string{"", "system-node-critical", "system-cluster-critical", "high"}).Draw(t, "class")
	}
	if rapid.IntRange(0, 5).Draw(t, "source") == 0 {
		p.Annotations = map[string]string{
			"kubernetes.io/config.source": rapid.SampledFrom([]string{"file", "http", "api", ""}).Draw(t, "source"),
		}
	}
	if rapid.IntRange(0, 15).Draw(t, "mirror") == 0 {
		p.Annotations = map[string]string{"kubernetes.io/config.mirror": "hash"}
	}
}

// status draws a status that the kubelet believes or counts.
func status(t *rapid.T, p *corev1.Pod, odd bool) {
	if rapid.IntRange(0, 5).Draw(t, "status class") == 0 {
		p.Status.QOSClass = rapid.SampledFrom([]corev1.PodQOSClass{"Guaranteed", "Burstable", "BestEffort", "Other"}).Draw(t, "class")
	}
	if rapid.IntRange(0, 3).Draw(t, "resize") == 0 {
		p.Status.ContainerStatuses = containerStatuses(t, p.Spec.Containers, odd)
		p.Status.InitContainerStatuses = containerStatuses(t, p.Spec.InitContainers, odd)
	}
	if rapid.IntRange(0, 9).Draw(t, "pod resize") == 0 {
		r := requirements(t, "status", odd, podResources())
		p.Status.Resources, p.Status.AllocatedResources = &r, list(t, "allocated", odd, podResources())
	}
	if rapid.IntRange(0, 7).Draw(t, "condition") == 0 {
		p.Status.Conditions = []corev1.PodCondition{{
			Type:   corev1.PodResizePending,
			Status: corev1.ConditionTrue,
			Reason: rapid.SampledFrom([]string{corev1.PodReasonInfeasible, corev1.PodReasonDeferred}).Draw(t, "reason"),
		}}
	}
	if rapid.IntRange(0, 9).Draw(t, "claim") == 0 {
		p.Status.NodeAllocatableResourceClaimStatuses = claims(t, p, odd)
	}
}

func claims(t *rapid.T, p *corev1.Pod, odd bool) []corev1.NodeAllocatableResourceClaimStatus {
	claim := corev1.NodeAllocatableResourceClaimStatus{ResourceClaimName: "claim"}
	for _, c := range append(p.Spec.InitContainers, p.Spec.Containers...) {
		if rapid.Bool().Draw(t, "claims") {
			claim.Containers = append(claim.Containers, c.Name)
		}
	}
	q := quantity(t, corev1.ResourceMemory, odd)
	claim.Mapping = []corev1.NodeAllocatableMappedResources{{Name: rapid.SampledFrom(podResources()).Draw(t, "mapped"), Quantity: &q}}
	once, each := quantity(t, corev1.ResourceMemory, odd), quantity(t, corev1.ResourceMemory, odd)
	claim.Overhead = []corev1.NodeAllocatableOverheadResources{{Name: corev1.ResourceMemory, PerPod: &once, PerContainer: &each}}
	return []corev1.NodeAllocatableResourceClaimStatus{claim}
}

func containerStatuses(t *rapid.T, containers []corev1.Container, odd bool) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, c := range containers {
		s := corev1.ContainerStatus{Name: c.Name}
		if rapid.Bool().Draw(t, "actuated") {
			r := requirements(t, c.Name, odd, podResources())
			s.Resources = &r
		}
		if rapid.Bool().Draw(t, "allocated") {
			s.AllocatedResources = list(t, c.Name, odd, podResources())
		}
		out = append(out, s)
	}
	return out
}

func containers(t *rapid.T, name string, low, high int, odd bool) []corev1.Container {
	var out []corev1.Container
	for i := range rapid.IntRange(low, high).Draw(t, name) {
		c := corev1.Container{Name: fmt.Sprintf("%s%d", name, i), Image: "a:1"}
		c.Resources = requirements(t, c.Name, odd, containerResources())
		out = append(out, c)
	}
	return out
}

// requirements draws requests and limits; often equal ones, of cpu and memory,
// as Guaranteed pods have.
func requirements(t *rapid.T, name string, odd bool, names []corev1.ResourceName) corev1.ResourceRequirements {
	switch rapid.IntRange(0, 5).Draw(t, name+" shape") {
	case 0:
		return corev1.ResourceRequirements{}
	case 1, 2:
		both := corev1.ResourceList{
			corev1.ResourceCPU: quantity(t, corev1.ResourceCPU, odd), corev1.ResourceMemory: quantity(t, corev1.ResourceMemory, odd),
		}
		return corev1.ResourceRequirements{Requests: both, Limits: both.DeepCopy()}
	case 3:
		return corev1.ResourceRequirements{Limits: list(t, name+" limits", odd, names)}
	case 4:
		return corev1.ResourceRequirements{Requests: list(t, name+" requests", odd, names)}
	}
	r := corev1.ResourceRequirements{Requests: list(t, name+" requests", odd, names), Limits: list(t, name+" limits", odd, names)}
	if !odd {
		for resource, limit := range r.Limits {
			if request, ok := r.Requests[resource]; ok && request.Cmp(limit) > 0 {
				r.Requests[resource] = limit
			}
		}
	}
	return r
}

func list(t *rapid.T, name string, odd bool, names []corev1.ResourceName) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, resource := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID).Draw(t, name) {
		out[resource] = quantity(t, resource, odd)
	}
	return out
}

func containerResources() []corev1.ResourceName {
	return []corev1.ResourceName{"cpu", "memory", "cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "hugepages-1Gi", "nvidia.com/gpu", "storage", "hugepages-64Ki"}
}

func podResources() []corev1.ResourceName {
	return []corev1.ResourceName{"cpu", "memory", "hugepages-2Mi", "hugepages-1Gi", "ephemeral-storage", "pid"}
}

func quantity(t *rapid.T, name corev1.ResourceName, odd bool) resource.Quantity {
	if odd && rapid.IntRange(0, 2).Draw(t, "odd") == 0 {
		return resource.MustParse(rapid.SampledFrom(oddQuantities()).Draw(t, string(name)))
	}
	var pool []string
	switch name {
	case corev1.ResourceCPU:
		pool = []string{"0", "1m", "2m", "9m", "10m", "100m", "250m", "500m", "999m", "1", "1500m", "2", "2.5", "3", "4", "8", "64", "256", "300", "1e3", "0.1", "100u"}
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourceStorage:
		pool = []string{"0", "1", "4095", "4096", "64Mi", "100Mi", "128M", "1Gi", "1.5Gi", "2Gi", "10G", "1e9", "100Gi", "1Ti", "500m", "1k"}
	case "pid", "nvidia.com/gpu":
		pool = []string{"0", "1", "2", "4"}
	default:
		pool = []string{"0", "2Mi", "4Mi", "1Gi", "2Gi", "3Mi", "64Ki"}
	}
	return resource.MustParse(rapid.SampledFrom(pool).Draw(t, string(name)))
}

func oddQuantities() []string {
	return []string{"1n", "100u", "0.0001", "1.0000001", "-1", "-100m", "8Ei", "9223372036854775807", "9223372036854775", "9223372036854776", "1e18", "5E", "0.5", "1234567.891", "1e-9", "7Ei", "1000000"}
}
