package qos

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
)

// Containers that ask for more than their pod push one that asks for nothing
// beyond the worst score, until 1.37.
func TestOOMScoreOfAnOverdrawnPod(t *testing.T) {
	t.Parallel()
	ask := func(memory string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{"memory": resource.MustParse(memory)}}
	}
	level := ask("1Gi")
	pod := &corev1.Pod{Spec: corev1.PodSpec{Resources: &level, Containers: []corev1.Container{{Name: "idle"}, {Name: "greedy", Resources: ask("3Gi")}}}}
	for minor, want := range map[kubelet.Minor]int64{35: 1125, 36: 1125, 37: 999} {
		if got := OOMScoreAdj(pod, &pod.Spec.Containers[0], 8<<30, kubelet.DefaultGates(minor)); got != want {
			t.Errorf("%s: got %d, want %d", minor, got, want)
		}
	}
}
