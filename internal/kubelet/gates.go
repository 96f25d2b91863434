package kubelet

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// The two gates that switch every gate of a stage which is not set by itself.
const (
	allAlpha = "AllAlpha"
	allBeta  = "AllBeta"
)

// Gates tells which feature gates are on in one kubelet. The zero value has the
// defaults of Latest.
type Gates struct {
	// Minor is the version whose table holds; 0 means Latest.
	Minor Minor
	// raw holds what was asked for, AllAlpha and AllBeta by those names.
	raw map[string]bool
	// set holds what raw means for every single gate.
	set map[string]bool
}

// DefaultGates are the gates of a kubelet of that minor version which nothing
// was set on.
func DefaultGates(minor Minor) Gates { return Gates{Minor: minor} }

// Enabled tells whether the gate is on. A name that this version does not know
// is off.
func (g Gates) Enabled(name string) bool {
	if on, ok := g.set[name]; ok {
		return on
	}
	return g.Spec(name).Default
}

// Spec is the gate's state in this version before anything was set; its Stage
// is StageUnknown for a name that the version refuses.
func (g Gates) Spec(name string) GateSpec {
	if name == allAlpha || name == allBeta {
		return GateSpec{Stage: StageAlpha}
	}
	return gateTable().spec(name, g.minor())
}

// Names are the gates that can be switched in this version, sorted.
func (g Gates) Names() []string {
	names := slices.Clone(gateTable().names)
	names = slices.DeleteFunc(names, func(name string) bool {
		spec := g.Spec(name)
		return spec.Stage == StageUnknown || spec.Locked
	})
	slices.Sort(names)
	return names
}

// Overrides is what was set by name, AllAlpha and AllBeta included.
func (g Gates) Overrides() map[string]bool { return maps.Clone(g.raw) }

// With sets gates on top of those set before, and fails as the kubelet would:
// for a name that the version does not know, a locked gate set to its other
// value, and a gate that needs one which is off. All failures are told, where
// the kubelet stops at the first unknown name that its map yields.
//
// kubelet v1.37: component-base/featuregate SetFromMap, unsafeSetFromMap.
func (g Gates) With(overrides map[string]bool) (Gates, error) {
	next := Gates{Minor: g.Minor, raw: maps.Clone(g.raw), set: maps.Clone(g.set)}
	if next.raw == nil {
		next.raw, next.set = map[string]bool{}, map[string]bool{}
	}
	maps.Copy(next.raw, overrides)
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(next.raw)) {
		if err := next.resolve(name, next.raw[name]); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 {
		errs = next.unmet()
	}
	if len(errs) > 0 {
		return g, utilerrors.NewAggregate(errs)
	}
	return next, nil
}

// resolve applies one name and value to set.
func (g Gates) resolve(name string, on bool) error {
	switch name {
	case allAlpha:
		g.switchStage(StageAlpha, on)
	case allBeta:
		g.switchStage(StageBeta, on)
	default:
		spec := g.Spec(name)
		switch {
		case spec.Stage == StageUnknown:
			return fmt.Errorf("unrecognized feature gate: %s", name)
		case spec.Locked && spec.Default != on:
			return fmt.Errorf("cannot set feature gate %s to %t, feature is locked to %t", name, on, spec.Default)
		}
	}
	g.set[name] = on
	return nil
}

// switchStage sets the gates of a stage that have no value of their own. What
// an earlier call set counts as one: a later AllAlpha never takes back an
// earlier AllAlpha.
func (g Gates) switchStage(stage GateStage, on bool) {
	for name, spec := range gateTable().all(g.minor()) {
		_, own := g.raw[name]
		_, before := g.set[name]
		if spec.Stage == stage && !own && !before {
			g.set[name] = on
		}
	}
}

// unmet lists the gates that are on while one they depend on is off.
func (g Gates) unmet() []error {
	var errs []error
	for name, needs := range gateTable().dependencies(g.minor()) {
		if !g.Enabled(name) {
			continue
		}
		off := slices.DeleteFunc(slices.Clone(needs), g.Enabled)
		if len(off) > 0 {
			errs = append(errs, fmt.Errorf("%s is enabled, but depends on features that are disabled: %v", name, off))
		}
	}
	return errs
}

// Since tells whether the kubelet is of that minor version or a later one: for
// rules that came with a version and have no gate.
func (g Gates) Since(minor Minor) bool { return g.minor() >= minor }

func (g Gates) minor() Minor {
	if g.Minor == 0 {
		return Latest
	}
	return g.Minor
}

// ParseGates reads the form of --feature-gates: A=true,B=false.
//
// kubelet v1.37: component-base/cli/flag MapStringBool.Set.
func ParseGates(text string) (map[string]bool, error) {
	gates := map[string]bool{}
	for pair := range strings.SplitSeq(text, ",") {
		if pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("malformed pair %q, expect string=bool", pair)
		}
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		on, err := strconv.ParseBool(value)
		if err != nil {
			return nil, fmt.Errorf("invalid value of %s: %s, err: %w", name, value, err)
		}
		gates[name] = on
	}
	return gates, nil
}
