package pods

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/gen"
	"github.com/kqos/kqos/conformance/oracle/pod"
	"github.com/kqos/kqos/conformance/oracle/runtime"
	"github.com/kqos/kqos/internal/qos"
)

// isolationInput is a pod of which the CPU manager knows some containers.
type isolationInput struct {
	Pod          *corev1.Pod     `json:"pod"`
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	Assigned     map[string]bool `json:"assigned"`
}

func TestIsolation(t *testing.T) {
	check.Property(t, 1500, func(t *rapid.T) {
		in := isolationInput{
			Pod: check.Pod(t), FeatureGates: gen.KnownGates(podGates()).Draw(t, "gates"), Assigned: map[string]bool{},
		}
		in.Pod.Spec.EphemeralContainers = nil // the CPU manager never knows one
		all := rapid.Bool().Draw(t, "all")
		for _, c := range pod.Containers(in.Pod) {
			if all || rapid.Bool().Draw(t, c.Name) {
				in.Assigned[c.Name] = true
			}
		}
		g, ok := setGates(t, in.FeatureGates)
		if !ok {
			return
		}
		assigned := func(c *corev1.Container) bool { return in.Assigned[c.Name] }
		got := runtime.Isolation{Pod: qos.PodIsolated(in.Pod, assigned, g), Containers: map[string]bool{}}
		for _, c := range pod.Containers(in.Pod) {
			got.Containers[c.Name] = qos.Isolated(in.Pod, &c, in.Assigned[c.Name], g)
		}
		check.Equal(t, in, runtime.IsolationOf(in.Pod, in.Assigned), got)
	})
}
