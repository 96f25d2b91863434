//go:build !kubelet135

package pod

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/kubernetes/pkg/features"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/cm"
)

func resourcesOptions() resourcehelper.PodResourcesOptions {
	enabled := utilfeature.DefaultFeatureGate.Enabled
	return resourcehelper.PodResourcesOptions{
		SkipPodLevelResources:                    !enabled(features.PodLevelResources),
		UseDRANodeAllocatableResourceClaimStatus: enabled(features.DRANodeAllocatableResources),
	}
}

func resourceConfig(p *corev1.Pod, o CgroupOptions) *cm.ResourceConfig {
	policy := kubeletconfig.MemoryReservationPolicy(o.MemoryReservationPolicy)
	return cm.ResourceConfigForPod(p.DeepCopy(), o.CPUCFSQuota, uint64(o.CPUCFSQuotaPeriod/time.Microsecond),
		utilfeature.DefaultFeatureGate.Enabled(features.MemoryQoS), policy)
}
