//go:build !kubelet135

package cpu

import (
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/state"
	"k8s.io/utils/cpuset"
)

// setPods and pods write and read what pods have as a whole.
func setPods(s state.State, whole map[string]cpuset.CPUSet) {
	entries := state.PodCPUAssignments{}
	for uid, cpus := range whole {
		entries[uid] = state.PodEntry{CPUSet: cpus}
	}
	s.SetPodCPUAssignments(entries)
}

func pods(s state.Reader) map[string]string {
	whole := map[string]string{}
	for uid, entry := range s.GetPodCPUAssignments() {
		whole[uid] = entry.CPUSet.String()
	}
	return whole
}
