//go:build !kubelet135 && !kubelet136

package node

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/nodestatus"

	"github.com/kqos/kqos/conformance/oracle/cadvisor"
)

// NewTopologyManager makes it without providers.
func NewTopologyManager(nodes []cadvisor.Node, policy, scope string, options map[string]string) (topologymanager.Manager, error) {
	return topologymanager.NewManager(klog.Background(), nodes, policy, scope, options)
}

// machineInfo fills in a node's status.
func machineInfo(m *containerManager, c *kubeletconfig.KubeletConfiguration, info *cadvisor.MachineInfo) nodestatus.Setter {
	return nodestatus.MachineInfo("node", int(c.MaxPods), int(c.PodsPerCore),
		func() (*cadvisor.MachineInfo, error) { return info, nil },
		func(klog.Logger, bool) v1.ResourceList { return m.capacity },
		func(klog.Logger) (v1.ResourceList, v1.ResourceList, []string) { return nil, nil, nil },
		func() v1.ResourceList { return nodeAllocatableReservation(m) },
		func(string, string, string) {}, func() *bool { return nil }, c.LocalStorageCapacityIsolation)
}
