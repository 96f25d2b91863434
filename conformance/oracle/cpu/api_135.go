//go:build kubelet135

package cpu

import (
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/state"
	"k8s.io/utils/cpuset"
)

// No pod has anything as a whole in this minor.
func setPods(state.State, map[string]cpuset.CPUSet) {}

func pods(state.Reader) map[string]string { return nil }
