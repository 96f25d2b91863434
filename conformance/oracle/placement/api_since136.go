//go:build !kubelet135

package placement

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
)

// attributes are what an admit handler is asked with.
func attributes(pod *v1.Pod) *lifecycle.PodAdmitAttributes {
	return &lifecycle.PodAdmitAttributes{Pod: pod, Operation: lifecycle.AddOperation}
}

// describePod reads back what the pod has as a whole.
func (k *kubelet) describePod(uid string, result *EventResult) {
	if cpus, ok := k.cpus.State().GetPodCPUSet(uid); ok {
		result.PodCPUs = cpus.String()
	}
	if k.policy.memory == "Static" {
		result.PodMemory = memoryOf(k.memory.State().GetPodMemoryBlocks(uid))
	}
}
