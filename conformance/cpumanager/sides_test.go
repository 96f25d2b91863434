package cpumanager

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/conformance/oracle/cpu"
	"github.com/kqos/kqos/internal/simulate/cpumanager"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// manager is what both sides can be asked.
type manager interface {
	hints(pod *corev1.Pod, c *corev1.Container) (map[string][]cpu.Hint, error)
	allocate(pod *corev1.Pod, c *corev1.Container, nodes []int) error
	remove(pod, container string) error
	entries() (shared cpuset.CPUSet, entries map[string]map[string]cpuset.CPUSet, pods map[string]cpuset.CPUSet)
}

type kqos struct{ m *cpumanager.Manager }

func (k kqos) hints(pod *corev1.Pod, c *corev1.Container) (map[string][]cpu.Hint, error) {
	var found topologymanager.Hints
	var err error
	if c == nil {
		found, err = k.m.PodHints(pod)
	} else {
		found, err = k.m.Hints(pod, c)
	}
	var hints map[string][]cpu.Hint
	for name, list := range found {
		hints = map[string][]cpu.Hint{name: {}}
		for _, h := range list {
			hints[name] = append(hints[name], cpu.Hint{Nodes: h.Affinity.Nodes(), Preferred: h.Preferred})
		}
	}
	return hints, err
}

func (k kqos) allocate(pod *corev1.Pod, c *corev1.Container, nodes []int) error {
	mask, err := topologymanager.MaskOf(nodes...)
	if err != nil {
		return err
	}
	hint := topologymanager.Hint{Affinity: mask}
	if c == nil {
		err = k.m.AllocatePod(pod, hint)
	} else {
		err = k.m.Allocate(pod, c, hint)
	}
	if err != nil {
		return errors.New(text(err))
	}
	return nil
}

func (k kqos) remove(pod, container string) error {
	k.m.Remove(types.UID(pod), container)
	return nil
}

func (k kqos) entries() (cpuset.CPUSet, map[string]map[string]cpuset.CPUSet, map[string]cpuset.CPUSet) {
	s := k.m.State()
	return s.Default, s.Entries, s.PodEntries
}

type oracle struct{ p *cpu.Policy }

func (o oracle) hints(pod *corev1.Pod, c *corev1.Container) (map[string][]cpu.Hint, error) {
	return o.p.Hints(pod, c)
}

func (o oracle) allocate(pod *corev1.Pod, c *corev1.Container, nodes []int) error {
	return o.p.Allocate(pod, c, nodes)
}

func (o oracle) remove(pod, container string) error { return o.p.Remove(pod, container) }

func (o oracle) entries() (cpuset.CPUSet, map[string]map[string]cpuset.CPUSet, map[string]cpuset.CPUSet) {
	s := o.p.State()
	pods := map[string]cpuset.CPUSet{}
	for uid, entry := range s.GetPodCPUAssignments() {
		pods[uid] = entry.CPUSet
	}
	return s.GetDefaultCPUSet(), s.GetCPUAssignments(), pods
}
