//go:build kubelet135 || kubelet136

package pod

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet/cm"
)

// setMemoryHigh: in these minors containers alone have it.
func setMemoryHigh(*cm.ResourceConfig, *corev1.Pod, CgroupOptions) {}
