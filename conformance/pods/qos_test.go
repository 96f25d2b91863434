// Package pods compares what kqos derives from a pod alone with the kubelet.
package pods

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/gen"
	"github.com/kqos/kqos/conformance/oracle/gates"
	"github.com/kqos/kqos/conformance/oracle/pod"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
)

// input is what a view depends on.
type input struct {
	Pod            *corev1.Pod     `json:"pod"`
	MemoryCapacity int64           `json:"memoryCapacity"`
	FeatureGates   map[string]bool `json:"featureGates,omitempty"`
}

func kqos(in input, g kubelet.Gates) pod.View {
	v := pod.View{
		QOSClass: qos.Class(in.Pod, g), ComputedQOSClass: qos.ComputeClass(in.Pod, g),
		Critical: qos.IsCritical(in.Pod), NodeCritical: qos.IsNodeCritical(in.Pod),
		Requests: pod.Amounts(qos.Requests(in.Pod, g)), Limits: pod.Amounts(qos.Limits(in.Pod, g)),
		OOMScoreAdj: map[string]int64{},
	}
	if qos.HasStatusResources(in.Pod) {
		v.RequestsWithStatus, v.LimitsWithStatus = pod.Amounts(qos.RequestsWithStatus(in.Pod, g)), pod.Amounts(qos.LimitsWithStatus(in.Pod, g))
	}
	for _, c := range pod.Containers(in.Pod) {
		v.OOMScoreAdj[c.Name] = qos.OOMScoreAdj(in.Pod, &c, in.MemoryCapacity, g)
	}
	return v
}

// podGates are the gates that bear on pods.
func podGates() []string {
	return []string{
		"PodLevelResources", "PodLevelResourcesFixKubeletQOSClass", "DRANodeAllocatableResources", "InPlacePodLevelResourcesVerticalScaling",
		"MemoryQoS", "CustomCPUCFSQuotaPeriod", "PodLevelResourceManagers", "InPlacePodVerticalScaling", "DisableCPUQuotaWithExclusiveCPUs",
	}
}

func TestQOS(t *testing.T) {
	check.Property(t, 6000, func(t *rapid.T) {
		in := input{
			Pod:            check.Pod(t),
			MemoryCapacity: rapid.SampledFrom([]int64{8 << 30, 1, 4096, 64 << 30, 6 << 40, 1000}).Draw(t, "memory"),
			FeatureGates:   gen.KnownGates(podGates()).Draw(t, "gates"),
		}
		g, ok := setGates(t, in.FeatureGates)
		if !ok {
			return
		}
		check.Equal(t, in, pod.QOS(in.Pod.DeepCopy(), in.MemoryCapacity, qos.HasStatusResources(in.Pod)), kqos(in, g))
	})
}

// setGates sets gates on both sides; both must refuse the same ones.
func setGates(t *rapid.T, values map[string]bool) (kubelet.Gates, bool) {
	g, err := kubelet.DefaultGates(check.Minor(t)).With(values)
	if errOracle := gates.Set(values); (err == nil) != (errOracle == nil) {
		t.Fatalf("gates %v: kubelet %v, kqos %v", values, errOracle, err)
	}
	return g, err == nil
}
