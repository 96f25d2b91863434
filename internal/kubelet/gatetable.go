package kubelet

import (
	_ "embed"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// GateStage is how mature a feature gate is in one version.
type GateStage string

// The stages in Kubernetes' own words. An unknown gate makes the kubelet refuse
// its configuration.
const (
	StageUnknown    GateStage = "unknown"
	StageAlpha      GateStage = "alpha"
	StageBeta       GateStage = "beta"
	StageGA         GateStage = "GA"
	StageDeprecated GateStage = "deprecated"
)

// GateSpec is the state of a feature gate in one version.
type GateSpec struct {
	Stage GateStage
	// Default says whether the gate is on when nothing sets it.
	Default bool
	// Locked says that it cannot be set to anything but its default.
	Locked bool
}

// sinceMinor is a value that holds from one minor version until the next entry.
type sinceMinor[T any] struct {
	minor Minor
	value T
}

// gates is every feature gate that a kubelet's set knows: its own and those of
// component-base, the API server, client-go and zpages that register with it.
type gates struct {
	names []string
	specs map[string][]sinceMinor[GateSpec]
	needs []gateNeeds
}

type gateNeeds struct {
	name  string
	gates []sinceMinor[[]string]
}

//go:embed gates.txt
var gatesText string

//go:embed gate_dependencies.txt
var gateDependenciesText string

// gateTable is parsed on first use: most calls ask for a gate, few for none.
var gateTable = sync.OnceValue(func() *gates {
	t := &gates{specs: map[string][]sinceMinor[GateSpec]{}}
	for name, history := range tableRows(gatesText) {
		t.names = append(t.names, name)
		for _, h := range history {
			stage, rest, _ := strings.Cut(h.value, ":")
			spec := GateSpec{Stage: GateStage(stage), Default: strings.HasPrefix(rest, "on"), Locked: strings.HasSuffix(rest, ":locked")}
			t.specs[name] = append(t.specs[name], sinceMinor[GateSpec]{h.minor, spec})
		}
	}
	for name, history := range tableRows(gateDependenciesText) {
		n := gateNeeds{name: name}
		for _, h := range history {
			var list []string
			if h.value != "none" {
				list = strings.Split(h.value, ",")
			}
			n.gates = append(n.gates, sinceMinor[[]string]{h.minor, list})
		}
		t.needs = append(t.needs, n)
	}
	return t
})

// tableRows reads "NAME 1.M=VALUE 1.M=VALUE" lines.
func tableRows(text string) iter.Seq2[string, []sinceMinor[string]] {
	return func(yield func(string, []sinceMinor[string]) bool) {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			fields := strings.Fields(line)
			var history []sinceMinor[string]
			for _, f := range fields[1:] {
				version, value, _ := strings.Cut(f, "=")
				minor, _ := strconv.Atoi(strings.TrimPrefix(version, "1."))
				history = append(history, sinceMinor[string]{Minor(minor), value})
			}
			if !yield(fields[0], history) {
				return
			}
		}
	}
}

// at is the entry that holds in the minor version; the zero value before the first.
func at[T any](history []sinceMinor[T], minor Minor) (value T) {
	for _, h := range history {
		if h.minor <= minor {
			value = h.value
		}
	}
	return value
}

func (t *gates) spec(name string, minor Minor) GateSpec {
	spec := at(t.specs[name], minor)
	if spec.Stage == "" {
		spec.Stage = StageUnknown
	}
	return spec
}

// all yields the gates that the version knows, by name.
func (t *gates) all(minor Minor) iter.Seq2[string, GateSpec] {
	return func(yield func(string, GateSpec) bool) {
		for _, name := range t.names {
			if spec := t.spec(name, minor); spec.Stage != StageUnknown && !yield(name, spec) {
				return
			}
		}
	}
}

// dependencies yields the gates that need others to be on, by name.
func (t *gates) dependencies(minor Minor) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for _, n := range t.needs {
			if needs := at(n.gates, minor); len(needs) > 0 && !yield(n.name, slices.Clone(needs)) {
				return
			}
		}
	}
}
