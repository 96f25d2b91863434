//go:build !kubelet135 && !kubelet136

package placement

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
)

func (l listened) GetTopologyHints(logger klog.Logger, pod *v1.Pod, c *v1.Container, op lifecycle.Operation) map[string][]topologymanager.TopologyHint {
	hints := l.HintProvider.GetTopologyHints(logger, pod, c, op)
	l.told.note(c.Name, hints)
	return hints
}

func (l listened) GetPodTopologyHints(logger klog.Logger, pod *v1.Pod, op lifecycle.Operation) map[string][]topologymanager.TopologyHint {
	hints := l.HintProvider.GetPodTopologyHints(logger, pod, op)
	l.told.note("", hints)
	return hints
}

func (k *kubelet) affinity(uid, container string) topologymanager.TopologyHint {
	return k.topology.GetAffinity(klog.Background(), uid, container)
}

// verdict is the topology manager's on a pod.
func (k *kubelet) verdict(pod *v1.Pod) lifecycle.PodAdmitResult {
	return k.topology.Admit(context.Background(), attributes(pod))
}

// added and removed tell it of a container.
func (k *kubelet) added(pod *v1.Pod, c *v1.Container, id string) {
	k.topology.AddContainer(klog.Background(), pod, c, id)
}

func (k *kubelet) removed(id string) error { return k.topology.RemoveContainer(klog.Background(), id) }

// ask lets the managers place the pod's first container.
func (k *kubelet) ask(pod *v1.Pod) {
	_ = k.cpus.Allocate(context.Background(), pod, &pod.Spec.Containers[0], lifecycle.AddOperation)
	_ = k.memory.Allocate(context.Background(), pod, &pod.Spec.Containers[0], lifecycle.AddOperation)
	k.devices.UpdateAllocatedDevices(klog.Background())
}

func (o offers) GetTopologyHints(klog.Logger, *v1.Pod, *v1.Container, lifecycle.Operation) map[string][]topologymanager.TopologyHint {
	return o.hints
}

func (o offers) GetPodTopologyHints(klog.Logger, *v1.Pod, lifecycle.Operation) map[string][]topologymanager.TopologyHint {
	return o.hints
}

func (offers) AllocatePod(klog.Logger, *v1.Pod, lifecycle.Operation) error { return nil }

func (offers) Allocate(context.Context, *v1.Pod, *v1.Container, lifecycle.Operation) error {
	return nil
}
