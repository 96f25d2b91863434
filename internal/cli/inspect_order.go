package cli

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/cgroups"
)

// sortKeys are what --sort takes; all but name put the greatest first.
func sortKeys() []string {
	return []string{"name", "cpu", "memory", "pids", "throttled", "oom", "pressure", "drift"}
}

// foldLevels are what --fold takes, from the top down.
func foldLevels() []string {
	var words []string
	for _, level := range []cgroups.Level{cgroups.LevelNode, cgroups.LevelQoS, cgroups.LevelPod, cgroups.LevelContainer} {
		words = append(words, string(level))
	}
	return words
}

// rank is what a cgroup is sorted by.
func (o *inspectOptions) rank(c *inspectedCgroup) float64 {
	u := &c.Usage
	switch o.sortBy {
	case "cpu":
		if u.CPU != nil {
			return u.CPU.AsApproximateFloat64()
		}
		return deref(u.CPUSeconds)
	case "memory":
		if u.Memory != nil {
			return u.Memory.AsApproximateFloat64()
		}
	case "pids":
		return float64(deref(u.PIDs))
	case "throttled":
		return deref(u.Throttled)
	case "oom":
		return float64(deref(u.OOMKills))
	case "pressure":
		return worst(u.Pressure)
	case "drift":
		return float64(len(c.Drift))
	}
	return 0
}

func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func worst(pressure map[string]float64) float64 {
	return slices.Max(append(slices.Collect(maps.Values(pressure)), 0))
}

// forest is the cgroups as a tree: the children of each path, and those whose
// parent is not shown under "".
func forest(all []inspectedCgroup) map[string][]int {
	shown := map[string]bool{}
	for i := range all {
		shown[all[i].Path] = true
	}
	children := map[string][]int{}
	for i := range all {
		above := ""
		for p := all[i].Path; p != "/" && above == ""; {
			if p = path.Dir(p); shown[p] {
				above = p
			}
		}
		children[above] = append(children[above], i)
	}
	return children
}

// order sorts siblings, and keeps parents before children.
func (o *inspectOptions) order(v *cgroupInspection) {
	children := forest(v.Cgroups)
	sorted := make([]inspectedCgroup, 0, len(v.Cgroups))
	var add func(above string)
	add = func(above string) {
		slices.SortStableFunc(children[above], func(a, b int) int {
			x, y := &v.Cgroups[a], &v.Cgroups[b]
			return cmp.Or(cmp.Compare(o.rank(y), o.rank(x)), cmp.Compare(x.Path, y.Path))
		})
		for _, i := range children[above] {
			sorted = append(sorted, v.Cgroups[i])
			add(v.Cgroups[i].Path)
		}
	}
	add("")
	v.Cgroups = sorted
}

// folded tells whether what lies below a cgroup is hidden.
func (o *inspectOptions) folded(c *inspectedCgroup) bool {
	levels := foldLevels()
	return o.fold != "" && slices.Index(levels, string(c.Level)) >= slices.Index(levels, o.fold)
}

// driftBelow counts the differences of a cgroup and of all below it.
func driftBelow(all []inspectedCgroup, children map[string][]int, i int) int {
	n := len(all[i].Drift)
	for _, below := range children[all[i].Path] {
		n += driftBelow(all, children, below)
	}
	return n
}

// quantityText prints a figure, with a dash for one that is not told.
func quantityText(q *resource.Quantity, text func(resource.Quantity) string) string {
	if q == nil {
		return "-"
	}
	return text(*q)
}
