// Package placement plays scenarios on kqos and on the kubelet's managers.
package placement

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/oracle/placement"
	"github.com/kqos/kqos/internal/simulate"
)

// TestOracle holds the oracle itself against the recorded answers: a mistake in
// how it drives the managers would make every comparison worthless.
func TestOracle(t *testing.T) {
	check.Quiet()
	paths, err := filepath.Glob("../../testdata/golden/placement/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden placement: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				Cases []struct{ Result *simulate.Result }
			}
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			scenarios, _, err := simulate.ReadScenarios(data)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range scenarios {
				w := want.Cases[i].Result
				if slices.Contains(w.Arbitrary, "result") {
					continue
				}
				got := placement.Run(check.Scenario(s), t.TempDir())
				if !slices.ContainsFunc(w.Events, func(e simulate.EventResult) bool { return e.Hints != nil }) {
					for i := range got.Events {
						got.Events[i].Hints = nil // of large machines and long lives they were not recorded
					}
				}
				if diff := cmp.Diff(steady(t, w, w.Arbitrary), steady(t, got, w.Arbitrary)); diff != "" {
					t.Errorf("%s (-recorded +oracle):\n%s", s.Name, diff)
				}
			}
		})
	}
}

// steady is a result as JSON without explanations and what the kubelet leaves
// to chance.
func steady(t interface{ Fatal(...any) }, r any, chance []string) any {
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return without(v, chance)
}

func without(value any, chance []string) any {
	switch v := value.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = without(v[i], chance)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			switch {
			case key == "hints" && v["panic"] != nil: // the crash took them along
			case key == "arbitrary" || key == "explain", key == "files" && slices.Contains(chance, "files"):
			case key == "panic":
				out[key] = "the kubelet crashes"
			case key == "mems":
				// The kubelet joins a set in the order of a map.
				nodes := strings.Split(inner.(string), ",")
				slices.Sort(nodes)
				out[key] = nodes
			case key == "devices" && slices.Contains(chance, "devices"):
				counts := map[string]any{}
				for resource, ids := range inner.(map[string]any) {
					counts[resource] = len(ids.([]any))
				}
				out[key] = counts
			default:
				out[key] = without(inner, chance)
			}
		}
		return out
	}
	return value
}
