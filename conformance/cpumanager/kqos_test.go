package cpumanager

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kqos/kqos/conformance/oracle/cpu"
	"github.com/kqos/kqos/internal/simulate/cpumanager"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// kqos is the side of kqos.
type kqos struct{ m *cpumanager.Manager }

func (k kqos) Hints(pod *corev1.Pod, c *corev1.Container) (map[string][]cpu.Hint, error) {
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

func (k kqos) Allocate(pod *corev1.Pod, c *corev1.Container, nodes []int) error {
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

func (k kqos) Remove(pod, container string) error {
	k.m.Remove(types.UID(pod), container)
	return nil
}

func (k kqos) State() cpu.State { return stateOf(k.m.State()) }

// stateOf is a state in the oracle's form.
func stateOf(s cpumanager.State) cpu.State {
	out := cpu.State{Default: s.Default.String(), Entries: map[string]map[string]string{}, Pods: map[string]string{}}
	for pod, containers := range s.Entries {
		out.Entries[pod] = map[string]string{}
		for name, cpus := range containers {
			out.Entries[pod][name] = cpus.String()
		}
	}
	for pod, cpus := range s.PodEntries {
		out.Pods[pod] = cpus.String()
	}
	return out
}
