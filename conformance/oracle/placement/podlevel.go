//go:build !kubelet135

package placement

// describePod reads back what the pod has as a whole.
func (k *kubelet) describePod(uid string, result *EventResult) {
	if cpus, ok := k.cpus.State().GetPodCPUSet(uid); ok {
		result.PodCPUs = cpus.String()
	}
	if k.policy.memory == "Static" {
		result.PodMemory = memoryOf(k.memory.State().GetPodMemoryBlocks(uid))
	}
}
