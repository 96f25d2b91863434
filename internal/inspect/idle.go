package inspect

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/qos"
)

// idle tells which CPUs are held for init containers that have ended. The
// checkpoint keeps them for the pod until it goes, and does not say so; that a
// container of the pod's app runs, before which all init containers ended, does.
//
// kubelet v1.37: cm/cpumanager/cpu_manager.go removeStaleState.
func (i *Inspection) idle(shown []Cgroup) []string {
	running := map[containerKey]bool{}
	for n := range shown {
		if c := &shown[n]; c.Level == cgroups.LevelContainer && c.Container != "" && !c.Missing {
			running[containerKey{c.Pod.UID, c.Container}] = true
		}
	}
	var notes []string
	for _, pod := range i.Pods {
		uid := cgroups.PodUID(pod)
		held := i.Exclusive[uid]
		// What is held for the pod as a whole any container of it may use.
		if _, whole := held[""]; whole || len(held) == 0 || !started(pod, running) {
			continue
		}
		for n := range pod.Spec.InitContainers {
			c := &pod.Spec.InitContainers[n]
			if qos.IsSidecar(c) || running[containerKey{uid, c.Name}] {
				continue
			}
			if cpus := held[c.Name].Difference(needed(pod, held)); !cpus.IsEmpty() {
				notes = append(notes, fmt.Sprintf("CPUs %s are held for init container %s, which has ended: nobody uses them until the pod goes", cpus, i.ownerName(uid, c.Name)))
			}
		}
	}
	return notes
}

// started says whether a container of the pod's app runs.
func started(pod *corev1.Pod, running map[containerKey]bool) bool {
	for n := range pod.Spec.Containers {
		if running[containerKey{cgroups.PodUID(pod), pod.Spec.Containers[n].Name}] {
			return true
		}
	}
	return false
}

// needed are the CPUs of those containers that run as long as the pod.
func needed(pod *corev1.Pod, held map[string]cpuset.CPUSet) cpuset.CPUSet {
	cpus := cpuset.New()
	for name, set := range held {
		ends := false
		for n := range pod.Spec.InitContainers {
			c := &pod.Spec.InitContainers[n]
			ends = ends || c.Name == name && !qos.IsSidecar(c)
		}
		if !ends {
			cpus = cpus.Union(set)
		}
	}
	return cpus
}
