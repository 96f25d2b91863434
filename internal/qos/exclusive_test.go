package qos

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
)

// guaranteed is a container with equal requests and limits.
func guaranteed(name, cpu string) corev1.Container {
	list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("1Gi")}
	return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: list, Limits: list}}
}

func TestExclusiveCPUs(t *testing.T) {
	managed, err := kubelet.DefaultGates(kubelet.Latest).With(map[string]bool{kubelet.GatePodLevelManagers: true})
	if err != nil {
		t.Fatal(err)
	}
	off := kubelet.Gates{}
	podLevel := func(containers ...corev1.Container) *corev1.Pod {
		r := guaranteed("", "4").Resources
		return &corev1.Pod{Spec: corev1.PodSpec{Resources: &r, Containers: containers}}
	}
	containers := func(containers ...corev1.Container) *corev1.Pod {
		return &corev1.Pod{Spec: corev1.PodSpec{Containers: containers}}
	}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		g    kubelet.Gates
		n    int
		want string
	}{
		"whole":             {containers(guaranteed("a", "2")), off, 2, "Guaranteed pod and a whole cpu request (2)"},
		"whole in millis":   {containers(guaranteed("a", "3000m")), off, 3, "Guaranteed pod and a whole cpu request (3)"},
		"fraction":          {containers(guaranteed("a", "1500m")), off, 0, "the cpu request 1500m is no whole number"},
		"one is burstable":  {containers(guaranteed("a", "2"), corev1.Container{Name: "b"}), off, 0, "the pod is Burstable, not Guaranteed"},
		"pod level":         {podLevel(guaranteed("a", "2")), off, 0, "the pod has pod-level resources and the gate PodLevelResourceManagers is off"},
		"pod level managed": {podLevel(guaranteed("a", "2")), managed, 2, "Guaranteed pod and a whole cpu request (2)"},
		"pod level without own resources": {
			podLevel(corev1.Container{Name: "a"}), managed, 0,
			"in a pod with pod-level resources the container's own requests and limits of cpu and memory must be equal and above zero",
		},
	} {
		n, why := ExclusiveCPUs(c.pod, &c.pod.Spec.Containers[0], c.g)
		if n != c.n || why != c.want {
			t.Errorf("%s: %d, %q; want %d, %q", name, n, why, c.n, c.want)
		}
	}
}

// TestOOMScoreWithoutCapacity asks for what the kubelet never computes.
func TestOOMScoreWithoutCapacity(t *testing.T) {
	burstable := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{guaranteed("a", "1"), {Name: "b"}}}}
	if !NeedsMemoryCapacity(burstable, kubelet.Gates{}) {
		t.Error("the score of a Burstable pod depends on the capacity")
	}
	if got := OOMScoreAdj(burstable, &burstable.Spec.Containers[0], 0, kubelet.Gates{}); got != 0 {
		t.Errorf("score %d without a capacity, want 0", got)
	}
	burstable.Spec.Priority, burstable.Spec.PriorityClassName = new(int32(kubelet.SystemNodeCriticalPriority)), kubelet.SystemNodeCritical
	if NeedsMemoryCapacity(burstable, kubelet.Gates{}) {
		t.Error("a node-critical pod has one score on every machine")
	}
	// No app container and a sidecar: the kubelet would crash.
	always := corev1.ContainerRestartPolicyAlways
	sidecar := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{guaranteed("a", "1")}}}
	sidecar.Spec.InitContainers[0].RestartPolicy = &always
	sidecar.Status.QOSClass = corev1.PodQOSBurstable
	if got := OOMScoreAdj(sidecar, &sidecar.Spec.InitContainers[0], 16<<30, kubelet.Gates{}); got != 938 {
		t.Errorf("score %d of a lone sidecar, want 938", got)
	}
}

func TestPodIsolated(t *testing.T) {
	managed, err := kubelet.DefaultGates(kubelet.Latest).With(map[string]bool{kubelet.GatePodLevelManagers: true})
	if err != nil {
		t.Fatal(err)
	}
	whole, fraction := guaranteed("whole", "2"), guaranteed("fraction", "1500m")
	r := guaranteed("", "4").Resources
	own := &corev1.Pod{Spec: corev1.PodSpec{Resources: &r, Containers: []corev1.Container{whole}, InitContainers: []corev1.Container{whole}}}
	mixed := &corev1.Pod{Spec: corev1.PodSpec{Resources: &r, Containers: []corev1.Container{whole, fraction}}}
	plain := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{whole, fraction}}}
	all := func(*corev1.Container) bool { return true }
	first := func(c *corev1.Container) bool { return c.Name == "whole" }
	for name, c := range map[string]struct {
		pod      *corev1.Pod
		assigned func(*corev1.Container) bool
		want     bool
	}{
		"each has CPUs for itself":            {own, all, true},
		"one shares those of the pod":         {mixed, all, false},
		"one without pod-level resources":     {plain, first, true},
		"no container has an entry":           {plain, func(*corev1.Container) bool { return false }, false},
		"an entry counts without pod level":   {plain, all, true},
		"a container of a pod level has none": {mixed, first, false},
	} {
		if got := PodIsolated(c.pod, c.assigned, managed); got != c.want {
			t.Errorf("%s: isolated is %t", name, got)
		}
	}
	if Isolated(mixed, &fraction, true, managed) {
		t.Error("a container that shares its pod's CPUs keeps its quota")
	}
}
