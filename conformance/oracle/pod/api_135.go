//go:build kubelet135

package pod

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/kubelet/cm"
)

func resourcesOptions() resourcehelper.PodResourcesOptions {
	return resourcehelper.PodResourcesOptions{SkipPodLevelResources: !utilfeature.DefaultFeatureGate.Enabled(features.PodLevelResources)}
}

func resourceConfig(p *corev1.Pod, o CgroupOptions) *cm.ResourceConfig {
	return cm.ResourceConfigForPod(p.DeepCopy(), o.CPUCFSQuota, uint64(o.CPUCFSQuotaPeriod/time.Microsecond),
		utilfeature.DefaultFeatureGate.Enabled(features.MemoryQoS))
}
