package placement

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/gen"
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
	check.Property(t, 1500, func(t *rapid.T) {
		raw := gen.Scenario().Draw(t, "scenario")
		scenarios, _, err := simulate.ReadScenarios(raw)
		if err != nil {
			t.Fatal(err)
		}
		got := simulate.Run(scenarios[0], simulate.Options{})
		if slices.Contains(got.Arbitrary, "result") {
			return
		}
		var want any
		for range chances {
			state, remove := check.Dir(t, dir)
			want = steady(t, placement.Run(scenarios[0], state), got.Arbitrary)
			remove()
			if cmp.Equal(want, steady(t, got, got.Arbitrary)) {
				return
			}
		}
		check.Equal(t, raw, want, steady(t, got, got.Arbitrary))
	})
}
