package cpu

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/conformance/older"
	"github.com/kqos/kqos/internal/machine"
)

// PodLevelManagers is the feature gate with which a pod may have CPUs as a whole.
const PodLevelManagers = "PodLevelResourceManagers"

// Life is one life of a CPU manager.
type Life struct {
	Machine        *machine.Machine  `json:"machine"`
	Options        map[string]string `json:"options"`
	FeatureGates   map[string]bool   `json:"featureGates"`
	TopologyPolicy string            `json:"topologyPolicy"`
	Reserved       int               `json:"reserved"`
	Steps          []Step            `json:"steps"`
}

// Step admits a pod, or removes some of its containers.
type Step struct {
	Pod *corev1.Pod `json:"pod,omitempty"`
	// PodScope asks for the pod as a whole.
	PodScope bool `json:"podScope,omitempty"`
	// Pick chooses the affinity out of the hints; below zero none is used.
	Pick   int    `json:"pick"`
	Remove string `json:"remove,omitempty"`
	// Keep is the number of containers, in order of their names, that stay.
	Keep int `json:"keep,omitempty"`
}

// Hint is a topology hint.
type Hint struct {
	Nodes     []int `json:"nodes"`
	Preferred bool  `json:"preferred"`
}

// Manager is what the kubelet and kqos can both be asked.
type Manager interface {
	// Hints are those for a container, or for the pod where it is nil.
	Hints(pod *corev1.Pod, c *corev1.Container) (map[string][]Hint, error)
	// Allocate gives the container, or the pod where it is nil, its CPUs; nil
	// nodes are no affinity.
	Allocate(pod *corev1.Pod, c *corev1.Container, nodes []int) error
	// Remove takes the container's CPUs back.
	Remove(pod, container string) error
	State() State
}

// Start is how a kubelet starts on the state: not, with the error.
func Start(l Life, found State) error {
	if older.Asked() {
		_, err := older.Try[any]("cpu.Start", l, found)
		return err
	}
	_, err := New(l, found)
	return err
}

// Live is what the kubelet does in the first steps on a fresh node.
func Live(l Life, first int) ([]string, error) {
	if older.Asked() {
		return older.Try[[]string]("cpu.Live", l, first)
	}
	p, err := New(l, State{})
	if err != nil {
		return nil, err
	}
	return l.Run(p, first), nil
}

// Endless is in the error of a manager that knows that the kubelet hangs.
const Endless = "loops for ever"

// Run lives through the first steps and tells what happened in each. It ends
// where the kubelet hangs.
func (l Life) Run(m Manager, first int) []string {
	var lines []string
	for i, s := range l.Steps[:min(first, len(l.Steps))] {
		var line string
		if s.Pod != nil {
			line = l.admit(m, s)
		} else {
			names := slices.Sorted(maps.Keys(m.State().Entries[s.Remove]))
			for _, name := range names[min(s.Keep, len(names)):] {
				if err := m.Remove(s.Remove, name); err != nil {
					line += err.Error()
				}
			}
		}
		if strings.Contains(line, Endless) {
			return lines
		}
		now := m.State()
		lines = append(lines, fmt.Sprintf("%d: %s -> %s %v %v", i, line, now.Default, now.Entries, now.Pods))
	}
	return lines
}

func (l Life) admit(m Manager, s Step) string {
	var line strings.Builder
	containers := slices.Concat(s.Pod.Spec.InitContainers, s.Pod.Spec.Containers)
	var nodes []int
	if s.PodScope {
		nodes = ask(m, s, nil, &line)
		if s.Pod.Spec.Resources != nil && l.FeatureGates[PodLevelManagers] {
			if err := m.Allocate(s.Pod, nil, nodes); err != nil {
				fmt.Fprintf(&line, " %v", err)
			}
			return line.String()
		}
	}
	for i := range containers {
		c := &containers[i]
		if !s.PodScope {
			nodes = ask(m, s, c, &line)
		}
		if err := m.Allocate(s.Pod, c, nodes); err != nil {
			fmt.Fprintf(&line, " %v", err)
			break
		}
	}
	return line.String()
}

// ask notes the hints and picks an affinity from them.
func ask(m Manager, s Step, c *corev1.Container, line *strings.Builder) []int {
	hints, err := m.Hints(s.Pod, c)
	fmt.Fprintf(line, "%v", hints)
	if err != nil {
		fmt.Fprintf(line, " %v", err)
	}
	line.WriteString(";")
	list := hints["cpu"]
	if s.Pick < 0 || len(list) == 0 {
		return nil
	}
	return list[s.Pick%len(list)].Nodes
}
