//go:build !kubelet135

package node

import (
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/cm"
)

// nodeConfig are the fields of a configuration that the QoS tiers depend on.
func nodeConfig(c *kubeletconfig.KubeletConfiguration) cm.NodeConfig {
	return cm.NodeConfig{MemoryReservationPolicy: c.MemoryReservationPolicy}
}
