package qos

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
)

// TestSumsLeaveThePodAlone holds a fault of the shared helper off: it adds the
// overhead to a pod-level amount that is no plain integer, in place.
func TestSumsLeaveThePodAlone(t *testing.T) {
	amount := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1.5Gi")}
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "app"}},
		Resources:  &corev1.ResourceRequirements{Requests: amount, Limits: amount.DeepCopy()},
		Overhead:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1M")},
	}}
	want := map[string]int64{"memory": 1610612736 + 1000000}
	g := kubelet.DefaultGates(kubelet.Latest)
	for range 3 {
		if diff := cmp.Diff(want, amounts(Requests(pod, g))); diff != "" {
			t.Fatalf("requests (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, amounts(Limits(pod, g))); diff != "" {
			t.Fatalf("limits (-want +got):\n%s", diff)
		}
	}
}
