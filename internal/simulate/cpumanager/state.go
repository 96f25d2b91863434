package cpumanager

import (
	"maps"

	"k8s.io/utils/cpuset"
)

// State is what the CPU manager knows of the CPUs in use, and what it keeps in
// the file cpu_manager_state. The zero value is that of a fresh node.
// kubelet v1.37: cm/cpumanager/state/state_mem.go
type State struct {
	// Default is the shared pool: the CPUs of every container without an entry.
	// Empty under policy none.
	Default cpuset.CPUSet
	// Entries are the CPUs of single containers, by pod UID and container name.
	Entries map[string]map[string]cpuset.CPUSet
	// PodEntries are the CPUs of pods with pod-level resources, by pod UID. Only
	// with the gate PodLevelResourceManagers.
	PodEntries map[string]cpuset.CPUSet
	// Baselines are the CPUs that containers got at admission, by pod UID and
	// container name. Only with the gate InPlacePodVerticalScalingExclusiveCPUs.
	Baselines map[string]map[string]cpuset.CPUSet
}

// Clone copies the maps; the sets themselves never change.
func (s State) Clone() State {
	return State{
		Default:    s.Default,
		Entries:    cloneEntries(s.Entries),
		PodEntries: maps.Clone(s.PodEntries),
		Baselines:  cloneEntries(s.Baselines),
	}
}

func cloneEntries(entries map[string]map[string]cpuset.CPUSet) map[string]map[string]cpuset.CPUSet {
	copied := maps.Clone(entries)
	for pod, containers := range copied {
		copied[pod] = maps.Clone(containers)
	}
	return copied
}

// put records an entry and makes the maps that it needs.
func put(entries *map[string]map[string]cpuset.CPUSet, pod, container string, cpus cpuset.CPUSet) {
	if *entries == nil {
		*entries = map[string]map[string]cpuset.CPUSet{}
	}
	if (*entries)[pod] == nil {
		(*entries)[pod] = map[string]cpuset.CPUSet{}
	}
	(*entries)[pod][container] = cpus
}

// drop forgets an entry, and the pod with its last one.
func drop(entries map[string]map[string]cpuset.CPUSet, pod, container string) {
	delete(entries[pod], container)
	if len(entries[pod]) == 0 {
		delete(entries, pod)
	}
}
