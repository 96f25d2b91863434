package qos

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
)

// goldenView is what the kubelet's own code says of one pod.
type goldenView struct {
	QOSClass           corev1.PodQOSClass `json:"qosClass"`
	ComputedQOSClass   corev1.PodQOSClass `json:"computedQOSClass"`
	Critical           bool               `json:"critical"`
	NodeCritical       bool               `json:"nodeCritical"`
	Requests           map[string]int64   `json:"requests"`
	Limits             map[string]int64   `json:"limits"`
	RequestsWithStatus map[string]int64   `json:"requestsWithStatus"`
	LimitsWithStatus   map[string]int64   `json:"limitsWithStatus"`
	OOMScoreAdj        map[string]int64   `json:"oomScoreAdj"`
}

type goldenCase struct {
	Name  string
	Input struct {
		Pod            *corev1.Pod
		MemoryCapacity int64
		FeatureGates   map[string]bool
	}
	Want struct{ AsGiven goldenView }
}

// TestGolden compares with the answers of the kubelet's own code.
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
			got := view(c.Input.Pod, c.Input.MemoryCapacity, g)
			if diff := cmp.Diff(c.Want.AsGiven, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("view of the pod as given (-want +got):\n%s", diff)
			}
		})
	}
}

func view(pod *corev1.Pod, memory int64, g kubelet.Gates) goldenView {
	v := goldenView{
		QOSClass: Class(pod, g), ComputedQOSClass: ComputeClass(pod, g),
		Critical: IsCritical(pod), NodeCritical: IsNodeCritical(pod),
		Requests: amounts(Requests(pod, g)), Limits: amounts(Limits(pod, g)),
		OOMScoreAdj: map[string]int64{},
	}
	if HasStatusResources(pod) {
		v.RequestsWithStatus = amounts(RequestsWithStatus(pod, g))
		v.LimitsWithStatus = amounts(LimitsWithStatus(pod, g))
	}
	for c := range Containers(pod) {
		v.OOMScoreAdj[c.Name] = OOMScoreAdj(pod, c, memory, g)
	}
	for i := range pod.Spec.EphemeralContainers {
		c := corev1.Container(pod.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		v.OOMScoreAdj[c.Name] = OOMScoreAdj(pod, &c, memory, g)
	}
	return v
}

// amounts gives cpu in millicores and all else in units, as the golden file does.
func amounts(list corev1.ResourceList) map[string]int64 {
	out := map[string]int64{}
	for name, q := range list {
		out[string(name)] = quantity.Units(name, q)
	}
	return out
}
