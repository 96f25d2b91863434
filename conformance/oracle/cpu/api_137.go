//go:build !kubelet135 && !kubelet136

package cpu

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
)

func (s *store) GetAffinity(klog.Logger, string, string) topologymanager.TopologyHint {
	return topologymanager.TopologyHint{NUMANodeAffinity: s.affinity}
}

func (p *Policy) podHints(pod *corev1.Pod) map[string][]topologymanager.TopologyHint {
	return p.policy.GetPodTopologyHints(klog.Logger{}, p.state, pod, lifecycle.AddOperation)
}

func (p *Policy) containerHints(pod *corev1.Pod, c *corev1.Container) map[string][]topologymanager.TopologyHint {
	return p.policy.GetTopologyHints(klog.Logger{}, p.state, pod, c, lifecycle.AddOperation)
}

func (p *Policy) allocatePod(pod *corev1.Pod) error {
	return p.policy.AllocatePod(klog.Logger{}, p.state, pod, lifecycle.AddOperation)
}

func (p *Policy) allocateContainer(pod *corev1.Pod, c *corev1.Container) error {
	return p.policy.Allocate(klog.Logger{}, p.state, pod, c, lifecycle.AddOperation)
}
