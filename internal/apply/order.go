package apply

import (
	"slices"
	"strings"

	"github.com/kqos/kqos/internal/cgroups"
)

// phase orders steps: a later one may count on all earlier ones.
type phase int

const (
	// yielding takes CPUs and NUMA nodes away from those that lose some, children
	// first, before another is granted them exclusively.
	yielding phase = iota
	// growing makes cgroups, raises limits and hands controllers down, parents
	// first: a v1 child may not exceed its parent's quota or cpuset.
	growing
	// resizing changes memory and cpu of pods that exist, pod by pod.
	resizing
	// lowering lowers limits, children first for the same reason.
	lowering
	// removing removes cgroups, children first.
	removing
)

// phaseOf places a change.
func phaseOf(c cgroups.Change) phase {
	switch {
	case c.Op == cgroups.OpRemove:
		return removing
	case c.Op == cgroups.OpCreate || c.From == "" || !lowers(c):
		return growing
	case isCPUSet(c.File):
		return yielding
	}
	return lowering
}

// order turns changes into steps: all files of a cgroup that belong to one
// phase are one step, and a pod that exists and differs is resized.
func (p *Plan) order(cgroup func(path string) *cgroups.Cgroup, changes []cgroups.Change) []Step {
	var steps []Step
	pods := map[string][]cgroups.Change{}
	for _, c := range changes {
		if pod := p.resized(cgroup(c.Path), c); pod != "" {
			pods[pod] = append(pods[pod], c)
			continue
		}
		ph := phaseOf(c)
		if n := len(steps); c.Op == cgroups.OpUpdate && c.File != subtreeControl {
			i := slices.IndexFunc(steps[max(0, n-stepsBack):], func(s Step) bool {
				return s.Op == c.Op && s.phase == ph && s.Cgroup.Path == c.Path && !s.enables()
			})
			if i >= 0 {
				s := &steps[max(0, n-stepsBack)+i]
				s.Changes = append(s.Changes, c)
				continue
			}
		}
		steps = append(steps, Step{Op: c.Op, Cgroup: cgroup(c.Path), Changes: []cgroups.Change{c}, phase: ph})
	}
	steps = append(steps, p.resizes(cgroup, pods)...)
	slices.SortStableFunc(steps, func(a, b Step) int {
		if a.phase != b.phase || a.phase == resizing {
			return int(a.phase - b.phase)
		}
		down := depth(a.Cgroup.Path) - depth(b.Cgroup.Path)
		if a.phase == growing {
			return down
		}
		return -down
	})
	return steps
}

// enables says whether a step hands controllers down. Such a step is alone.
func (s Step) enables() bool { return s.Changes[0].File == subtreeControl }

// stepsBack is how many of the last steps may be of one cgroup: its creation
// and one of each phase that writes files.
const stepsBack = 4

func depth(p string) int {
	if p == "/" {
		return 0
	}
	return strings.Count(p, "/")
}
