// Package cpumanager compares the CPU manager of kqos with the kubelet's.
package cpumanager

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/cpuset"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/oracle/cpu"
	"github.com/kqos/kqos/conformance/oracle/gates"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate/cpumanager"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

const podLevelManagers = "PodLevelResourceManagers"

// input is one life of a CPU manager.
type input struct {
	Machine        *machine.Machine  `json:"machine"`
	Options        map[string]string `json:"options"`
	FeatureGates   map[string]bool   `json:"featureGates"`
	TopologyPolicy string            `json:"topologyPolicy"`
	Reserved       int               `json:"reserved"`
	Steps          []step            `json:"steps"`
}

// step admits a pod, or removes some of its containers.
type step struct {
	Pod *corev1.Pod `json:"pod,omitempty"`
	// PodScope asks for the pod as a whole.
	PodScope bool `json:"podScope,omitempty"`
	// Pick chooses the affinity out of the hints; below zero none is used.
	Pick   int    `json:"pick"`
	Remove string `json:"remove,omitempty"`
	// Keep is the number of containers, in order of their names, that stay.
	Keep int `json:"keep,omitempty"`
}

func TestCPUManager(t *testing.T) {
	check.Property(t, 1500, func(t *rapid.T) {
		in := draw(t)
		m, err := in.kqos(t, cpumanager.State{})
		if endless(err) {
			return
		}
		p, errOracle := in.oracle(cpu.State{})
		if text, want := text(err), text(errOracle); text != want {
			check.Equal(t, in, want, text)
		}
		if errOracle != nil {
			return
		}
		got := in.run(kqos{m}, math.MaxInt)
		check.Equal(t, in, in.run(oracle{p}, len(got)), got)
	})
}

// TestCPUManagerState starts both sides with the state that a life led to, after
// something about the node or the file has changed.
func TestCPUManagerState(t *testing.T) {
	check.Property(t, 1000, func(t *rapid.T) {
		in := draw(t)
		m, err := in.kqos(t, cpumanager.State{})
		if err != nil {
			return
		}
		in.run(kqos{m}, math.MaxInt)
		found := m.State()
		changed := in
		changed.Options, changed.FeatureGates = maps.Clone(in.Options), maps.Clone(in.FeatureGates)
		change(t, &changed, &found)
		_, err = changed.kqos(t, found)
		if endless(err) {
			return
		}
		_, errOracle := changed.oracle(cpu.State{Default: found.Default, Entries: found.Entries, Pods: found.PodEntries})
		if text, want := anyOverlap(err), anyOverlap(errOracle); text != want {
			check.Equal(t, map[string]any{"node": changed, "state": fmt.Sprint(found)}, want, text)
		}
	})
}

// anyOverlap is the text of an error without the container that overlaps with
// the shared pool: the kubelet's map yields any of several.
func anyOverlap(err error) string {
	if _, rest, ok := strings.Cut(text(err), "overlaps with"); ok {
		return rest
	}
	return text(err)
}

// change changes one thing. More would leave it to a map's order which of them
// the kubelet tells.
func change(t *rapid.T, in *input, found *cpumanager.State) {
	switch rapid.IntRange(0, 6).Draw(t, "change") {
	case 0:
		in.Options[cpumanager.OptionStrictReservation] = "true"
	case 1:
		delete(in.Options, cpumanager.OptionStrictReservation)
	case 2:
		in.Reserved++
	case 3:
		found.Default = cpuset.New()
	case 4:
		found.Default = found.Default.Union(cpuset.New(9999))
	case 5:
		found.Default = found.Default.Difference(cpuset.New(found.Default.List()[:min(1, found.Default.Size())]...))
	}
	in.FeatureGates[podLevelManagers] = rapid.Bool().Draw(t, "pod-level managers after")
	if !in.FeatureGates[podLevelManagers] {
		found.PodEntries = nil
	}
}

// kqos makes and starts the manager of kqos, and oracle the kubelet's.
func (in input) kqos(t *rapid.T, found cpumanager.State) (*cpumanager.Manager, error) {
	g, err := kubelet.DefaultGates(kubelet.Latest).With(in.FeatureGates)
	if err != nil {
		t.Fatal(err)
	}
	m, err := cpumanager.New(in.Machine, cpumanager.Config{
		Policy: kubelet.CPUPolicyStatic, Options: in.Options, TopologyPolicy: in.TopologyPolicy, Gates: g,
		Reservation: resource.NewQuantity(int64(in.Reserved), resource.DecimalSI),
	})
	if err != nil {
		// The prefix is that of the manager around the policy.
		return nil, errors.New(strings.TrimPrefix(text(err), "new static policy error: "))
	}
	return m, m.Start(found)
}

func (in input) oracle(found cpu.State) (*cpu.Policy, error) {
	if err := gates.Set(in.FeatureGates); err != nil {
		return nil, err
	}
	return cpu.New(in.Machine, cpu.Config{Options: in.Options, Reserved: in.Reserved, TopologyPolicy: in.TopologyPolicy}, found)
}

// run lives through the first steps and tells what happened in each. It ends
// where kqos knows that the kubelet hangs.
func (in input) run(m manager, first int) []string {
	var lines []string
	for i, s := range in.Steps[:min(first, len(in.Steps))] {
		var line string
		if s.Pod != nil {
			line = in.admit(m, s)
		} else {
			_, entries, _ := m.entries()
			names := slices.Sorted(maps.Keys(entries[s.Remove]))
			for _, name := range names[min(s.Keep, len(names)):] {
				if err := m.remove(s.Remove, name); err != nil {
					line += err.Error()
				}
			}
		}
		if strings.Contains(line, endlessText) {
			return lines
		}
		shared, entries, pods := m.entries()
		lines = append(lines, fmt.Sprintf("%d: %s -> %s %v %v", i, line, shared, entries, pods))
	}
	return lines
}

func (in input) admit(m manager, s step) string {
	var line strings.Builder
	containers := slices.Concat(s.Pod.Spec.InitContainers, s.Pod.Spec.Containers)
	var nodes []int
	if s.PodScope {
		nodes = ask(m, s, nil, &line)
		if s.Pod.Spec.Resources != nil && in.FeatureGates[podLevelManagers] {
			if err := m.allocate(s.Pod, nil, nodes); err != nil {
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
		if err := m.allocate(s.Pod, c, nodes); err != nil {
			fmt.Fprintf(&line, " %v", err)
			break
		}
	}
	return line.String()
}

// ask notes the hints and picks an affinity from them.
func ask(m manager, s step, c *corev1.Container, line *strings.Builder) []int {
	hints, err := m.hints(s.Pod, c)
	fmt.Fprintf(line, "%v %v;", hints, text(err))
	list := hints["cpu"]
	if s.Pick < 0 || len(list) == 0 {
		return nil
	}
	return list[s.Pick%len(list)].Nodes
}

const endlessText = "loops for ever"

func endless(err error) bool { return err != nil && strings.Contains(err.Error(), endlessText) }

func text(err error) string {
	var crash *topologymanager.CrashError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &crash) && !endless(err):
		return "panic: " + crash.Message
	}
	return err.Error()
}
