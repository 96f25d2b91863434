package pods

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/gen"
	"github.com/kqos/kqos/conformance/oracle/apiserver"
	"github.com/kqos/kqos/internal/admission"
)

// stored are the amounts of a pod that creation may change.
type stored struct {
	Containers map[string]corev1.ResourceRequirements `json:"containers"`
	PodLevel   *corev1.ResourceRequirements           `json:"podLevel,omitempty"`
	Overhead   corev1.ResourceList                    `json:"overhead,omitempty"`
}

func amountsOf(p *corev1.Pod) stored {
	s := stored{Containers: map[string]corev1.ResourceRequirements{}, PodLevel: p.Spec.Resources, Overhead: p.Spec.Overhead}
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for _, c := range list {
			s.Containers[c.Name] = c.Resources
		}
	}
	return s
}

func TestCreation(t *testing.T) {
	check.Property(t, 4000, func(t *rapid.T) {
		in := input{Pod: gen.Pod().Draw(t, "pod"), FeatureGates: gen.KnownGates(podGates()).Draw(t, "gates")}
		g, ok := setGates(t, in.FeatureGates)
		if !ok {
			return
		}
		want, err := apiserver.Create(in.Pod)
		if err != nil {
			t.Fatal(err)
		}
		got := in.Pod.DeepCopy()
		admission.Default(got, g)
		check.Equal(t, in, amountsOf(want), amountsOf(got))
	})
}
