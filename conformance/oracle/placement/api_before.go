//go:build kubelet135 || kubelet136

package placement

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
)

func (l listened) GetTopologyHints(pod *v1.Pod, c *v1.Container) map[string][]topologymanager.TopologyHint {
	hints := l.HintProvider.GetTopologyHints(pod, c)
	l.told.note(c.Name, hints)
	return hints
}

func (l listened) GetPodTopologyHints(pod *v1.Pod) map[string][]topologymanager.TopologyHint {
	hints := l.HintProvider.GetPodTopologyHints(pod)
	l.told.note("", hints)
	return hints
}

func (k *kubelet) affinity(uid, container string) topologymanager.TopologyHint {
	return k.topology.GetAffinity(uid, container)
}

// verdict is the topology manager's on a pod.
func (k *kubelet) verdict(pod *v1.Pod) lifecycle.PodAdmitResult {
	return k.topology.Admit(attributes(pod))
}

// added and removed tell it of a container.
func (k *kubelet) added(pod *v1.Pod, c *v1.Container, id string) { k.topology.AddContainer(pod, c, id) }

func (k *kubelet) removed(id string) error { return k.topology.RemoveContainer(id) }

// ask lets the managers place the pod's first container.
func (k *kubelet) ask(pod *v1.Pod) {
	_ = k.cpus.Allocate(pod, &pod.Spec.Containers[0])
	_ = k.memory.Allocate(pod, &pod.Spec.Containers[0])
	k.devices.UpdateAllocatedDevices()
}

func (o offers) GetTopologyHints(*v1.Pod, *v1.Container) map[string][]topologymanager.TopologyHint {
	return o.hints
}

func (o offers) GetPodTopologyHints(*v1.Pod) map[string][]topologymanager.TopologyHint {
	return o.hints
}

func (offers) AllocatePod(*v1.Pod) error { return nil }

func (offers) Allocate(*v1.Pod, *v1.Container) error { return nil }
