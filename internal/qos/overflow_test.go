package qos

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
)

func TestOverflows(t *testing.T) {
	for name, c := range map[string]struct {
		// cpu and memory are limits, one container each.
		cpu, memory []string
		want        []corev1.ResourceName
	}{
		"usual":               {[]string{"1"}, []string{"1Gi"}, nil},
		"the largest":         {[]string{"9223372036854775"}, []string{"9223372036854775807"}, nil},
		"one too large":       {[]string{"9223372036854776"}, []string{"1e19"}, []corev1.ResourceName{"cpu", "memory"}},
		"a sum too large":     {nil, []string{"5E", "5E"}, []corev1.ResourceName{"memory"}},
		"many large in a sum": {[]string{"5P", "5P"}, []string{"1", "1"}, []corev1.ResourceName{"cpu"}},
	} {
		pod := &corev1.Pod{}
		for i := range max(len(c.cpu), len(c.memory)) {
			limits := corev1.ResourceList{}
			if i < len(c.cpu) {
				limits["cpu"] = resource.MustParse(c.cpu[i])
			}
			if i < len(c.memory) {
				limits["memory"] = resource.MustParse(c.memory[i])
			}
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Resources: corev1.ResourceRequirements{Limits: limits}})
		}
		if diff := cmp.Diff(c.want, Overflows(pod, kubelet.Gates{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
