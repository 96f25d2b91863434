// Package check runs the properties of this module: as many cases as
// KQOS_CASES asks for, and what the two sides differ in written down as a
// golden case.
//
//	check.Property(t, 300, func(t *rapid.T) {
//		pod := gen.Pod().Draw(t, "pod")
//		check.Equal(t, pod, oracle(pod), kqos(pod))
//	})
package check

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/klog/v2"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/older"
	"github.com/kqos/kqos/internal/kubelet"
)

// folder takes the counter-examples, beside the test that found them.
const folder = "testdata/counterexamples"

// Cases is how many cases a property runs: KQOS_CASES where it is set, else
// standard.
func Cases(standard int) (int, error) {
	text := os.Getenv("KQOS_CASES")
	if text == "" {
		return standard, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("KQOS_CASES=%s: want a number of cases above zero", text)
	}
	return n, nil
}

// Minor is that of the kubelet which judges: KQOS_KUBELET where another than
// the newest is asked.
func Minor(t TB) kubelet.Minor {
	t.Helper()
	asked := os.Getenv(older.Kubelet)
	if asked == "" {
		return kubelet.Latest
	}
	minor, err := kubelet.ParseVersion(asked)
	if err != nil {
		t.Fatalf("%s: %v", older.Kubelet, err)
	}
	return minor
}

// Property checks prop on Cases(standard) generated inputs. Where it fails,
// rapid shrinks the input and prints the seed and the file that repeat it.
func Property(t *testing.T, standard int, prop func(*rapid.T)) {
	t.Helper()
	n, err := Cases(standard)
	if err != nil {
		t.Fatal(err)
	}
	if err := flag.Set("rapid.checks", strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
	Quiet()
	rapid.Check(t, prop)
}

// Quiet takes the kubelet's log away: it is no part of any result.
func Quiet() { klog.SetLogger(logr.Discard()) }

// TB is what Equal needs of a test: the rapid.T of a property or a testing.T.
type TB interface {
	Helper()
	Name() string
	Fatalf(format string, args ...any)
}

// Equal fails the case when got is not what the kubelet wants for input. Both
// are compared by their JSON. The case is then written in the form of
// testdata/golden: rapid calls last with the smallest input that it finds, so
// that one stays.
func Equal(t TB, input, want, got any) {
	t.Helper()
	w, g := plain(t, want), plain(t, got)
	diff := cmp.Diff(w, g, cmpopts.EquateEmpty())
	if diff == "" {
		return
	}
	file := filepath.Join(folder, strings.NewReplacer("/", "-", "#", "-").Replace(t.Name())+".json")
	if err := write(file, t.Name(), input, want); err != nil {
		t.Fatalf("writing the counter-example: %v", err)
	}
	text, _ := json.Marshal(input)
	t.Fatalf("kqos differs from the kubelet (-kubelet +kqos):\n%s\ninput, also in %s:\n%s", diff, file, text)
}

// plain is a value as JSON has it, with integers kept exact.
func plain(t TB, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%v", err)
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	var out any
	if err := d.Decode(&out); err != nil {
		t.Fatalf("%v", err)
	}
	return out
}

func write(file, name string, input, want any) error {
	data, err := json.MarshalIndent([]any{map[string]any{"name": name, "input": input, "want": want}}, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// Dir makes a folder for one case below dir; remove takes it away again.
func Dir(t TB, dir string) (path string, remove func()) {
	t.Helper()
	path, err := os.MkdirTemp(dir, "case")
	if err != nil {
		t.Fatalf("%v", err)
	}
	return path, func() { _ = os.RemoveAll(path) }
}
