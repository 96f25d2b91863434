package simulate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestFit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, config string
		pod          *corev1.Pod
		want         Fit
	}{
		{
			"until the CPUs end", "topologyManagerPolicy: restricted", guaranteed("p", "4", "1Gi", nil),
			Fit{
				Pod: "p", More: 3, Reason: "TopologyAffinityError", Message: "Resources cannot be allocated with Topology locality",
				Why: "Container app: it asks for 4 CPUs, and free are 2 on node 0: 2 more would do.",
			},
		},
		{
			"until the memory ends", "systemReserved: {memory: 1Gi}", guaranteed("p", "500m", "4Gi", nil),
			Fit{
				Pod: "p", More: 3, Reason: "OutOfmemory",
				Message: "Node didn't have enough resource: memory, requested: 4294967296, used: 12884901888, capacity: 16001269760",
				Why:     "Allocatable memory is 15260Mi, of which the pods before request 12Gi and this one another 4Gi.",
			},
		},
		{
			"until the CPUs that pods share end", "", guaranteed("p", "4500m", "1Gi", nil),
			Fit{
				Pod: "p", More: 3, Reason: "OutOfcpu",
				Message: "Node didn't have enough resource: cpu, requested: 4500, used: 13500, capacity: 14000",
				Why:     "Allocatable cpu is 14000m, of which the pods before request 13500m and this one another 4500m.",
			},
		},
		{
			"until the pods end", "maxPods: 5", guaranteed("p", "1m", "1Mi", nil),
			Fit{
				Pod: "p", More: 5, Reason: "OutOfpods", Message: "Node didn't have enough resource: pods, requested: 1, used: 5, capacity: 5",
				Why: "The kubelet takes no more than 5 pods (maxPods, podsPerCore).",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, newNode(t, tt.config, "vendor.com/gpu").Fit(tt.pod)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// No manager but the memory manager looks at huge pages; allocatable does.
func TestFitOfHugePages(t *testing.T) {
	t.Parallel()
	n := newNode(t, "", "vendor.com/gpu")
	n.allocatable["hugepages-2Mi"] = resource.MustParse("5Mi")
	got := n.Fit(guaranteed("p", "100m", "1Mi", map[corev1.ResourceName]string{"hugepages-2Mi": "2Mi"}))
	if got.More != 2 || got.Reason != "OutOfhugepages-2Mi" {
		t.Errorf("%d more, then %s; want 2, then OutOfhugepages-2Mi", got.More, got.Reason)
	}
}
