package cpu

import (
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/state"
	"k8s.io/utils/cpuset"
)

// State is what a cpu_manager_state holds: lists of CPUs, by pod and container.
type State struct {
	Default string
	Entries map[string]map[string]string
	Pods    map[string]string
}

// restore writes it into the kubelet's state.
func (s State) restore(to state.State) error {
	shared, err := cpuset.Parse(s.Default)
	if err != nil {
		return err
	}
	entries := state.ContainerCPUAssignments{}
	for pod, containers := range s.Entries {
		if entries[pod], err = sets(containers); err != nil {
			return err
		}
	}
	whole, err := sets(s.Pods)
	if err != nil {
		return err
	}
	to.SetDefaultCPUSet(shared)
	to.SetCPUAssignments(entries)
	setPods(to, whole)
	return nil
}

func sets(lists map[string]string) (out map[string]cpuset.CPUSet, err error) {
	out = map[string]cpuset.CPUSet{}
	for name, list := range lists {
		if out[name], err = cpuset.Parse(list); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func texts(entries state.ContainerCPUAssignments) map[string]map[string]string {
	out := map[string]map[string]string{}
	for pod, containers := range entries {
		out[pod] = map[string]string{}
		for name, cpus := range containers {
			out[pod][name] = cpus.String()
		}
	}
	return out
}
