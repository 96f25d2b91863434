// Package pod asks the kubelet's own code what it makes of a pod.
//
//	view := pod.QOS(p, 8<<30)
package pod

import (
	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	resourcehelper "k8s.io/component-helpers/resource"
	v1qos "k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/kubelet/qos"
	kubelettypes "k8s.io/kubernetes/pkg/kubelet/types"

	"github.com/kqos/kqos/conformance/older"
)

// View is what is derived from a pod alone, in the form of testdata/golden/qos.json:
// cpu in millicores, all else in units.
type View struct {
	QOSClass           corev1.PodQOSClass `json:"qosClass"`
	ComputedQOSClass   corev1.PodQOSClass `json:"computedQOSClass"`
	Critical           bool               `json:"critical"`
	NodeCritical       bool               `json:"nodeCritical"`
	Requests           map[string]int64   `json:"requests"`
	Limits             map[string]int64   `json:"limits"`
	RequestsWithStatus map[string]int64   `json:"requestsWithStatus,omitempty"`
	LimitsWithStatus   map[string]int64   `json:"limitsWithStatus,omitempty"`
	OOMScoreAdj        map[string]int64   `json:"oomScoreAdj"`
}

// QOS is the kubelet's view of a pod on a machine with that much memory, under
// the gates as they are set. Each question gets a copy of the pod: the kubelet's
// sums change pod-level amounts in place.
func QOS(p *corev1.Pod, memoryCapacity int64, withStatus bool) View {
	if older.Asked() {
		return older.Ask[View]("pod.QOS", p, memoryCapacity, withStatus)
	}
	enabled := utilfeature.DefaultFeatureGate.Enabled
	options := resourcesOptions()
	v := View{
		QOSClass: v1qos.GetPodQOS(p), ComputedQOSClass: v1qos.ComputePodQOS(p),
		Critical: kubelettypes.IsCriticalPod(p), NodeCritical: kubelettypes.IsNodeCriticalPod(p),
		Requests: Amounts(resourcehelper.PodRequests(p.DeepCopy(), options)), Limits: Amounts(resourcehelper.PodLimits(p.DeepCopy(), options)),
		OOMScoreAdj: map[string]int64{},
	}
	if withStatus {
		options.UseStatusResources = true
		options.InPlacePodLevelResourcesVerticalScalingEnabled = enabled(features.InPlacePodLevelResourcesVerticalScaling)
		v.RequestsWithStatus = Amounts(resourcehelper.PodRequests(p.DeepCopy(), options))
		v.LimitsWithStatus = Amounts(resourcehelper.PodLimits(p.DeepCopy(), options))
	}
	for _, c := range Containers(p) {
		v.OOMScoreAdj[c.Name] = int64(qos.GetContainerOOMScoreAdjust(p.DeepCopy(), &c, memoryCapacity))
	}
	return v
}

// Containers are the containers of all kinds.
func Containers(p *corev1.Pod) []corev1.Container {
	all := append([]corev1.Container{}, p.Spec.InitContainers...)
	all = append(all, p.Spec.Containers...)
	for i := range p.Spec.EphemeralContainers {
		all = append(all, corev1.Container(p.Spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
	return all
}

// Amounts gives cpu in millicores and all else in units.
func Amounts(list corev1.ResourceList) map[string]int64 {
	out := map[string]int64{}
	for name, q := range list {
		out[string(name)] = q.Value()
		if name == corev1.ResourceCPU {
			out[string(name)] = q.MilliValue()
		}
	}
	return out
}
