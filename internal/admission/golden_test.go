package admission

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
)

type goldenCase struct {
	Name  string
	Input struct {
		Pod          *corev1.Pod
		FeatureGates map[string]bool
	}
	Want struct{ Admitted goldenView }
}

type goldenView struct {
	Requests, Limits, PodLevelRequests, PodLevelLimits map[string]int64
}

// TestGolden compares with the API server's own defaulting.
func TestGolden(t *testing.T) {
	data, err := os.ReadFile("../../testdata/golden/qos.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			g, err := kubelet.DefaultGates(kubelet.Latest).With(c.Input.FeatureGates)
			if err != nil {
				t.Fatal(err)
			}
			pod := c.Input.Pod
			Default(pod, g)
			options := resourcehelper.PodResourcesOptions{
				SkipPodLevelResources:                    !g.Enabled(kubelet.GatePodLevelResources),
				UseDRANodeAllocatableResourceClaimStatus: g.Enabled("DRANodeAllocatableResources"),
			}
			got := goldenView{
				Requests: amounts(resourcehelper.PodRequests(pod, options)),
				Limits:   amounts(resourcehelper.PodLimits(pod, options)),
			}
			if pod.Spec.Resources != nil {
				got.PodLevelRequests = amounts(pod.Spec.Resources.Requests)
				got.PodLevelLimits = amounts(pod.Spec.Resources.Limits)
			}
			if diff := cmp.Diff(c.Want.Admitted, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("defaulted pod (-want +got):\n%s", diff)
			}
		})
	}
}

func amounts(list corev1.ResourceList) map[string]int64 {
	out := map[string]int64{}
	for name, q := range list {
		out[string(name)] = quantity.Units(name, q)
	}
	return out
}
