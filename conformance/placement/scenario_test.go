package placement

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/gen"
	"github.com/kqos/kqos/conformance/older"
	"github.com/kqos/kqos/conformance/oracle/placement"
	"github.com/kqos/kqos/internal/simulate"
)

// chances is how often the kubelet may play a scenario until it does as kqos
// says: which of several equivalent devices it takes, which of several wrong
// options it names first, and what follows from
// that, differs from run to run.
const chances = 12

func TestScenarios(t *testing.T) {
	dir := t.TempDir()
	check.Property(t, 1000, func(t *rapid.T) { play(t, dir, gen.Scenario().Draw(t, "scenario")) })
}

// TestSuccessors has kubelets find the checkpoint files of another node's life.
func TestSuccessors(t *testing.T) {
	dir := t.TempDir()
	check.Property(t, 400, func(t *rapid.T) {
		play(t, dir, gen.Successor(func(raw json.RawMessage) map[string]string {
			return simulate.Run(read(t, raw), simulate.Options{Minor: check.Minor(t)}).Files
		}).Draw(t, "scenario"))
	})
}

func read(t *rapid.T, raw json.RawMessage) *simulate.Scenario {
	scenarios, _, err := simulate.ReadScenarios(raw)
	if err != nil {
		t.Fatal(err)
	}
	return scenarios[0]
}

func play(t *rapid.T, dir string, raw json.RawMessage) {
	// Alpha before 1.37, where kqos places what a pod asks for as a whole as 1.37 does.
	if older.Asked() && bytes.Contains(raw, []byte(`"PodLevelResourceManagers":true`)) {
		return
	}
	s := read(t, raw)
	got := simulate.Run(s, simulate.Options{Explain: true, Minor: check.Minor(t)})
	if slices.Contains(got.Arbitrary, "result") {
		return
	}
	var want any
	for range chances {
		state, remove := check.Dir(t, dir)
		want = steady(t, placement.Run(check.Scenario(s), state), got.Arbitrary)
		remove()
		if cmp.Equal(want, steady(t, got, got.Arbitrary)) {
			return
		}
	}
	check.Equal(t, raw, want, steady(t, got, got.Arbitrary))
}
