package fleet

import (
	"cmp"
	"hash/fnv"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
)

// podSums is what a node keeps of a pod.
type podSums struct {
	class    corev1.PodQOSClass
	requests amounts
	// exclusive is the number of CPUs that a static CPU manager gives its
	// containers.
	exclusive int64
	// first is the container that the kernel kills first.
	first killed
}

// killed is a container's place in the order in which the kernel kills.
type killed struct {
	pod, container string
	class          corev1.PodQOSClass
	terms          qos.OOMTerms
}

// reduce sums a pod up by the rules of a kubelet with these gates. The status is
// believed: the class, and what a resize has allocated and actuated.
func reduce(pod *corev1.Pod, g kubelet.Gates) podSums {
	s := podSums{class: qos.Class(pod, g), requests: amountsOf(qos.RequestsWithStatus(pod, g))}
	name := pod.Namespace + "/" + pod.Name
	for c := range qos.Containers(pod) {
		n, _ := qos.ExclusiveCPUs(pod, c, g)
		s.exclusive += int64(n)
	}
	// Init containers that end are rarely there when memory runs out.
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		k := killed{pod: name, container: c.Name, class: s.class, terms: qos.ReadOOMTerms(pod, c, g)}
		if s.first.pod == "" || killOrder(k, s.first) < 0 {
			s.first = k
		}
	}
	return s
}

// bound tells whether the gates of the kubelet matter to what reduce says of the
// pod.
func bound(pod *corev1.Pod) bool {
	return pod.Spec.Resources != nil || len(pod.Status.NodeAllocatableResourceClaimStatuses) > 0
}

// boundGates are the gates that bound pods depend on.
func boundGates() []string {
	return []string{
		kubelet.GatePodLevelResources, kubelet.GatePodLevelManagers, kubelet.GateFixKubeletQOSClass,
		kubelet.GatePodLevelResize, kubelet.GateDRANodeAllocatable,
	}
}

// sameBound tells whether two kubelets agree on all pods.
func sameBound(a, b kubelet.Gates) bool {
	return a.Since(36) == b.Since(36) && !slices.ContainsFunc(boundGates(), func(name string) bool { return a.Enabled(name) != b.Enabled(name) })
}

// killOrder is negative where the kernel kills a before b, whatever memory the
// machine has: by the score, which falls as the request grows.
func killOrder(a, b killed) int {
	return cmp.Or(-cmp.Compare(rankOf(a.terms), rankOf(b.terms)), cmp.Compare(scored(a.terms), scored(b.terms)),
		cmp.Compare(a.pod, b.pod), cmp.Compare(a.container, b.container))
}

// rankOf puts the scores that depend on the machine between the fixed ones.
func rankOf(t qos.OOMTerms) int64 { return t.Fixed }

// scored is the request that decides the score.
func scored(t qos.OOMTerms) int64 {
	if t.AppRequest != nil {
		return max(t.Request, *t.AppRequest)
	}
	return t.Request
}

// terminal tells whether a pod has ended and holds nothing any more.
func terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// fingerprint stands for a name, to notice that it comes again.
func fingerprint(kind, namespace, name string) uint64 {
	h := fnv.New64a()
	for _, part := range []string{kind, namespace, name} {
		// Writing to a hash never fails.
		_, _ = h.Write([]byte(part))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}
