package cpumanager

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// podLevel is a pod with resources of its own and the given containers.
func podLevel(cpu string, init, apps []corev1.Container) *corev1.Pod {
	list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("8Gi")}
	pod := newPod("p", apps...)
	pod.Spec.InitContainers = init
	pod.Spec.Resources = &corev1.ResourceRequirements{Requests: list, Limits: list}
	return pod
}

func podLevelManager(t *testing.T, names ...string) *Manager {
	t.Helper()
	m, err := New(synthetic(t, "sockets=2,numa=2,cores=16,threads=2"), Config{
		Policy: kubelet.CPUPolicyStatic, Reservation: quantity("2"), Gates: gates(t, names...),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(State{}); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAllocatePod(t *testing.T) {
	t.Parallel()
	m := podLevelManager(t, kubelet.GatePodLevelManagers)
	shared := corev1.Container{Name: "shared"}
	init := []corev1.Container{container("init", "4"), sidecar("sidecar", "2"), {Name: "whole"}}
	pod := podLevel("8", init, []corev1.Container{container("own", "2"), shared})
	before := m.State()
	if err := m.AllocatePod(pod, topologymanager.Hint{Affinity: 2}); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, cpus := range m.State().Entries["p"] {
		got[name] = cpus.String()
	}
	want := map[string]string{
		"init": "8-9,24-25", "sidecar": "8,24", "whole": "9-11,25-27", "own": "9,25", "shared": "10-11,26-27",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if cpus, ok := m.PodCPUs("p"); !ok || cpus.String() != "8-11,24-27" {
		t.Errorf("the pod has %s", cpus)
	}
	for _, name := range []string{"init", "sidecar", "whole", "own"} {
		m.Remove("p", name)
	}
	if m.Shared().Equals(before.Default) {
		t.Error("the pod's CPUs came back before its last container")
	}
	m.Remove("p", "shared")
	if _, ok := m.PodCPUs("p"); ok || !m.Shared().Equals(before.Default) {
		t.Errorf("after the last container: shared %s, pod entry %t", m.Shared(), ok)
	}
}

func TestEmptySharedPool(t *testing.T) {
	t.Parallel()
	shared := corev1.Container{Name: "shared"}
	tests := []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{
			"app container", podLevel("4", nil, []corev1.Container{container("own", "4"), shared}),
			"pod rejected, sum of exclusive container cpu requests equals pod budget, leaving no cpus for shared containers",
		},
		{
			"init container", podLevel("4", []corev1.Container{sidecar("s", "4"), shared}, []corev1.Container{container("own", "1")}),
			"pod rejected, pod has shared init containers but no cpus available for them",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := podLevelManager(t, kubelet.GatePodLevelManagers)
			err := m.AllocatePod(tt.pod, topologymanager.Hint{})
			refusal, ok := errors.AsType[*topologymanager.RefusalError](err)
			if !ok || refusal.Reason != topologymanager.ReasonEmptyPodSharedPool || refusal.Message != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			hints, err := m.PodHints(tt.pod)
			if list, ok := hints["cpu"]; err != nil || !ok || len(list) != 0 {
				t.Errorf("hints %v, %v: want an empty list", hints, err)
			}
		})
	}
}

func TestPodLevelWithoutItsGate(t *testing.T) {
	t.Parallel()
	m := podLevelManager(t)
	pod := podLevel("4", nil, []corev1.Container{container("own", "4")})
	hints, err := m.Hints(pod, &pod.Spec.Containers[0])
	if len(hints) != 0 || err != nil {
		t.Errorf("hints %v, %v: want none", hints, err)
	}
	if got := placed(m, pod); len(got) != 0 {
		t.Errorf("got %v, want no CPUs of its own", got)
	}
}
