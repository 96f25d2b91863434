package allocatable

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
)

// warnings tells consequences that people run into.
func warnings(c *kubelet.Config, r *Result) []string {
	return slices.Concat(evictionWarnings(c, r), cpuWarnings(c, r), limitWarnings(r))
}

func evictionWarnings(c *kubelet.Config, r *Result) []string {
	var w []string
	missing := slices.DeleteFunc(slices.Sorted(maps.Keys(kubelet.DefaultEvictionHard())), func(signal string) bool {
		_, ok := c.EvictionHard[signal]
		return ok
	})
	switch {
	case c.Source == "":
		w = append(w, "without a configuration file the kubelet has no hard eviction thresholds; give one with --config to have the defaults")
	case len(c.EvictionHard) > 0 && len(missing) > 0:
		w = append(w, fmt.Sprintf("evictionHard replaces the defaults: no threshold for %s; mergeDefaultEvictionSettings: true in the main file keeps them", strings.Join(missing, ", ")))
	case len(missing) > 0:
		w = append(w, "evictionHard is empty: the kubelet evicts nothing before the node itself runs out")
	}
	for _, t := range r.Thresholds {
		if math.IsNaN(float64(t.Percentage)) {
			w = append(w, fmt.Sprintf("evictionHard.%s: %s is no number, passes the kubelet's checks and reserves -2^63", t.Signal, t.Text))
		}
	}
	return w
}

func cpuWarnings(c *kubelet.Config, r *Result) []string {
	var w []string
	cpu := string(corev1.ResourceCPU)
	for _, field := range []struct {
		name    string
		amounts map[string]string
		read    corev1.ResourceList
	}{{"systemReserved", c.SystemReserved, r.Reservations.System}, {"kubeReserved", c.KubeReserved, r.Reservations.Kube}} {
		text, written := field.amounts[cpu]
		q, read := field.read[corev1.ResourceCPU]
		switch {
		case written && !r.Reservations.CPUs.IsEmpty():
			w = append(w, fmt.Sprintf("%s.cpu %s is void: reservedSystemCPUs sets the CPU reservation to %d", field.name, text, r.Reservations.CPUs.Size()))
		case written && read && q.IsZero() && text != "0":
			w = append(w, fmt.Sprintf("%s.cpu %s rounds to 0 thousandths of a CPU", field.name, text))
		}
	}
	return w
}

func limitWarnings(r *Result) []string {
	var w []string
	for _, e := range r.Enforced {
		if q, ok := e.Resources[corev1.ResourceMemory]; ok && q.IsZero() {
			w = append(w, fmt.Sprintf("%s: a memory limit of 0 is not written, so memory stays unlimited", e.Group))
		}
		if q, ok := e.Resources[ResourcePID]; ok && q.IsZero() {
			w = append(w, fmt.Sprintf("%s: a pid limit of 0 is written as 1", e.Group))
		}
		if e.Group != GroupKubepods && e.Resources == nil {
			w = append(w, fmt.Sprintf("%s: nothing is reserved, so enforcing it on %s fails and the kubelet exits", e.Group, e.Cgroup))
		}
	}
	if memory, ok := r.Allocatable[corev1.ResourceMemory]; ok && memory.IsZero() {
		w = append(w, "nothing of memory is left to pods; huge pages count against it")
	}
	return w
}
