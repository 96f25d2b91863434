package simulate

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// golden is a set of scenarios with the kubelet's answers.
type golden struct {
	Cases []struct {
		Result json.RawMessage
	}
}

// TestGolden holds every recorded scenario against the answers of the real
// managers of Kubernetes v1.37.2.
func TestGolden(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../testdata/golden/placement/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden placement: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var want golden
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			scenarios, _, err := ReadScenarios(data)
			if err != nil {
				t.Fatal(err)
			}
			results, err := RunAll(context.Background(), scenarios, Options{Explain: true})
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range results {
				compare(t, r, want.Cases[i].Result)
			}
		})
	}
}

func compare(t *testing.T, got *Result, wantJSON []byte) {
	t.Helper()
	gotJSON, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var g, w map[string]any
	if json.Unmarshal(gotJSON, &g) != nil || json.Unmarshal(wantJSON, &w) != nil {
		t.Fatal("no JSON object")
	}
	var chance []string
	for _, a := range list(w["arbitrary"]) {
		chance = append(chance, a.(string))
	}
	if slices.Contains(chance, "result") {
		return
	}
	var told []string
	for _, a := range list(g["arbitrary"]) {
		told = append(told, a.(string))
	}
	// The recording calls files arbitrary wherever several runs could differ;
	// where kqos sees no chance, its files must be the recorded ones.
	chance = slices.DeleteFunc(chance, func(c string) bool { return c == "files" && !slices.Contains(told, c) })
	for _, c := range chance {
		if !slices.Contains(told, c) {
			t.Errorf("%s: %s are left to chance, not told", got.Name, c)
		}
	}
	if diff := cmp.Diff(align(w, w, chance), align(g, w, chance)); diff != "" {
		t.Errorf("%s (-kubelet +kqos):\n%s", got.Name, diff)
	}
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// align makes a result comparable: without what is left to chance, and without
// the hints and explanations that the recording lacks.
func align(value, want any, chance []string) any {
	switch v := value.(type) {
	case []any:
		w := list(want)
		out := make([]any, len(v))
		for i := range v {
			var counterpart any
			if i < len(w) {
				counterpart = w[i]
			}
			out[i] = align(v[i], counterpart, chance)
		}
		return out
	case map[string]any:
		w, _ := want.(map[string]any)
		out := map[string]any{}
		for key, inner := range v {
			_, recorded := w[key]
			switch {
			case key == "arbitrary" || key == "explain",
				key == "hints" && !recorded,
				key == "files" && slices.Contains(chance, "files"):
			case key == "panic":
				out[key] = "the kubelet crashes"
			case key == "devices" && slices.Contains(chance, "devices"):
				counts := map[string]any{}
				for resource, ids := range inner.(map[string]any) {
					counts[resource] = len(list(ids))
				}
				out[key] = counts
			default:
				out[key] = align(inner, w[key], chance)
			}
		}
		return out
	}
	return value
}
