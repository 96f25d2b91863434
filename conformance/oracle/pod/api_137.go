//go:build !kubelet135 && !kubelet136

package pod

import (
	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/kubelet/cm"
)

func setMemoryHigh(c *cm.ResourceConfig, p *corev1.Pod, o CgroupOptions) {
	if utilfeature.DefaultFeatureGate.Enabled(features.MemoryQoS) && o.MemoryThrottlingFactor != nil {
		cm.ApplyPodLevelMemoryHigh(p.DeepCopy(), c, *o.MemoryThrottlingFactor)
	}
}
