package cli

import (
	"strings"

	"github.com/kqos/kqos/internal/render"
)

// outlined is a line of the tree: its drawing with the cgroup's name, which
// cgroup it is, and how many files drifted, those that are folded away below it
// too.
type outlined struct {
	text   string
	cgroup int
	drift  int
}

// outline lists the lines of the tree in order. A filter keeps the cgroups whose
// names or path hold it, what lies below them, and what leads to them.
func (o *inspectOptions) outline(v *cgroupInspection, filter string, s render.Style) []outlined {
	children := forest(v.Cgroups)
	var listed []outlined
	var branch func(i int, all bool) (b render.Branch, kept bool)
	branch = func(i int, all bool) (b render.Branch, kept bool) {
		c := &v.Cgroups[i]
		kept = all || c.matches(filter)
		at := len(listed)
		listed = append(listed, outlined{cgroup: i, drift: len(c.Drift)})
		b.Text = c.title()
		if o.folded(c) {
			listed[at].drift = driftBelow(v.Cgroups, children, i)
			kept = kept || matchBelow(v.Cgroups, children, i, filter)
		} else {
			for _, below := range children[c.Path] {
				if inner, shown := branch(below, kept); shown {
					b.Inner = append(b.Inner, inner)
				}
			}
		}
		if !kept && len(b.Inner) == 0 {
			listed = listed[:at]
			return b, false
		}
		return b, true
	}
	var texts [][]string
	for _, i := range children[""] {
		b, shown := branch(i, filter == "")
		if !shown {
			continue
		}
		if v.Cgroups[i].Pod == nil {
			b.Text = v.Cgroups[i].Path
		}
		texts = append(texts, b.Rows(s)...)
	}
	for n := range listed {
		listed[n].text = texts[n][0]
	}
	return listed
}

// matches tells whether a cgroup is one that a filter means: any part of its
// path or names, in either case.
func (c *inspectedCgroup) matches(filter string) bool {
	if filter == "" {
		return true
	}
	text := c.Path + " " + c.Container
	if c.Pod != nil {
		text += " " + c.Pod.Namespace + "/" + c.Pod.Name
	}
	return strings.Contains(strings.ToLower(text), strings.ToLower(filter))
}

func matchBelow(all []inspectedCgroup, children map[string][]int, i int, filter string) bool {
	for _, below := range children[all[i].Path] {
		if all[below].matches(filter) || matchBelow(all, children, below, filter) {
			return true
		}
	}
	return false
}
