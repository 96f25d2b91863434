// Package cpumanager compares the CPU manager of kqos with the kubelet's.
package cpumanager

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/cpuset"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/oracle/cpu"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/simulate/cpumanager"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

func TestCPUManager(t *testing.T) {
	check.Property(t, 1500, func(t *rapid.T) {
		in := draw(t)
		m, err := start(t, in, cpumanager.State{})
		if endless(err) {
			return
		}
		var got []string
		if err == nil {
			got = in.Run(kqos{m}, math.MaxInt)
		}
		want, errOracle := cpu.Live(in, len(got))
		if text, want := text(err), text(errOracle); text != want {
			check.Equal(t, in, want, text)
		}
		check.Equal(t, in, want, got)
	})
}

// TestCPUManagerState starts both sides with the state that a life led to, after
// something about the node or the file has changed.
func TestCPUManagerState(t *testing.T) {
	check.Property(t, 1000, func(t *rapid.T) {
		in := draw(t)
		m, err := start(t, in, cpumanager.State{})
		if err != nil {
			return
		}
		in.Run(kqos{m}, math.MaxInt)
		found := m.State()
		changed := in
		changed.Options, changed.FeatureGates = maps.Clone(in.Options), maps.Clone(in.FeatureGates)
		change(t, &changed, &found)
		_, err = start(t, changed, found)
		if endless(err) {
			return
		}
		errOracle := cpu.Start(changed, stateOf(found))
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
func change(t *rapid.T, in *cpu.Life, found *cpumanager.State) {
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
	podLevel(t, in, "pod-level managers after")
	if !in.FeatureGates[cpu.PodLevelManagers] {
		found.PodEntries = nil
	}
}

// start makes and starts the manager of kqos.
func start(t *rapid.T, in cpu.Life, found cpumanager.State) (*cpumanager.Manager, error) {
	g, err := kubelet.DefaultGates(check.Minor(t)).With(in.FeatureGates)
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

func endless(err error) bool { return err != nil && strings.Contains(err.Error(), cpu.Endless) }

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
