package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/kqos/kqos/internal/admission"
	"github.com/kqos/kqos/internal/apply"
	"github.com/kqos/kqos/internal/cgroups"
	quantities "github.com/kqos/kqos/internal/quantity"
	"github.com/kqos/kqos/internal/render"
)

// cgroupPlan is the contract of apply and diff.
type cgroupPlan struct {
	typeMeta
	Driver        string            `json:"driver"`
	CgroupVersion int               `json:"cgroupVersion"`
	Reading       admission.Reading `json:"reading"`
	// PodsIncomplete says why sums over pods are unknown.
	PodsIncomplete string `json:"podsIncomplete,omitempty"`
	// Unverified says why the rules may not be those of the node's kubelet.
	Unverified string           `json:"unverified,omitempty"`
	Cgroups    []cgroups.Cgroup `json:"cgroups"`
	Changes    []cgroups.Change `json:"changes"`
	// Withheld are those changes that would not be written, with the reason.
	Withheld []apply.Withheld `json:"withheld,omitempty"`
	// Notes tell what the host can't do, and what was left out.
	Notes []string `json:"notes,omitempty"`
	// Result counts what an apply did; a plan has none.
	Result *apply.Result `json:"result,omitempty"`
}

func newPlan(w *wanted, changes []cgroups.Change, withheld []apply.Withheld, notes []string) *cgroupPlan {
	return &cgroupPlan{
		typeMeta: kind("CgroupPlan"), Driver: w.tree.Driver, CgroupVersion: w.tree.Version, Reading: w.in.reading,
		PodsIncomplete: w.incomplete, Unverified: w.node.unverified, Cgroups: slices.Concat([]cgroups.Cgroup{}, w.tree.Cgroups),
		Changes: slices.Concat([]cgroups.Change{}, changes), Withheld: withheld, Notes: slices.Concat(w.notes, notes),
	}
}

func (plan *cgroupPlan) view() view {
	v := view{object: plan}
	for i := range plan.Cgroups {
		v.names = append(v.names, "cgroup"+plan.Cgroups[i].Path)
	}
	v.text = func(out io.Writer, s render.Style) error {
		if t := changeTable(plan, s); len(t.Rows) > 0 {
			if err := t.Print(out, s); err != nil {
				return err
			}
			fmt.Fprintln(out)
		}
		_, err := fmt.Fprintln(out, planSummary(plan))
		return err
	}
	return v
}

// changeTable has a row for each cgroup that is made or removed and each file
// that is written, and one for each value that cannot be told.
func changeTable(plan *cgroupPlan, s render.Style) *render.Table {
	t := &render.Table{Columns: []render.Column{
		{Name: "OP"}, {Name: "CGROUP"}, {Name: "FILE"}, {Name: "FROM"}, {Name: "TO"}, {Name: "WHY", Wide: true}, {Name: "PATH", Wide: true},
	}}
	labels := map[string]string{}
	for i := range plan.Cgroups {
		labels[plan.Cgroups[i].Path] = cgroupLabel(&plan.Cgroups[i])
	}
	held := map[string]string{}
	for _, w := range plan.Withheld {
		held[w.Path+"\n"+w.File] = w.Reason
	}
	for _, c := range plan.Changes {
		op, why := s.Paint(opColor(c.Op), string(c.Op)), c.Why
		if reason, ok := held[c.Path+"\n"+c.File]; ok {
			op, why = s.Paint(render.Yellow, "withheld"), reason
		}
		if c.Stage != "" {
			why += "; " + c.Stage
		}
		if c.Use != "" {
			why += fmt.Sprintf(" (in use: %s)", c.Use)
		}
		t.Rows = append(t.Rows, []string{op, or(labels[c.Path], c.Path), or(c.File, "-"), or(c.From, "-"), or(c.To, "-"), why, c.Path})
	}
	for i := range plan.Cgroups {
		c := &plan.Cgroups[i]
		for _, file := range slices.Sorted(maps.Keys(c.Unknown)) {
			t.Rows = append(t.Rows, []string{"unknown", labels[c.Path], file, "-", "-", c.Unknown[file], c.Path})
		}
	}
	return t
}

// cgroupLabel says whose cgroup it is, where the path says so only at length.
func cgroupLabel(c *cgroups.Cgroup) string {
	switch {
	case c.Pod != nil && c.Container != "":
		return namedIn(c.Pod.Namespace, c.Pod.Name) + ": " + c.Container
	case c.Pod != nil:
		return namedIn(c.Pod.Namespace, c.Pod.Name)
	case c.Level == cgroups.LevelQoS:
		return c.Name[len(c.Name)-1]
	}
	return c.Path
}

func opColor(op cgroups.Op) render.Color {
	switch op {
	case cgroups.OpCreate:
		return render.Green
	case cgroups.OpRemove:
		return render.Red
	}
	return render.Yellow
}

// planSummary counts.
func planSummary(plan *cgroupPlan) string {
	if r := plan.Result; r != nil {
		return fmt.Sprintf("%s wanted (%s, v%d): %d created, %d updated, %d removed, %d unchanged, %d failed, %s withheld",
			quantities.Count(len(plan.Cgroups), "cgroup"), plan.Driver, plan.CgroupVersion, r.Created, r.Updated, r.Removed, r.Unchanged, r.Failed, quantities.Count(len(plan.Withheld), "change"))
	}
	created, written, removed, unknown := 0, 0, 0, 0
	for _, c := range plan.Changes {
		switch c.Op {
		case cgroups.OpCreate:
			created++
		case cgroups.OpUpdate:
			written++
		case cgroups.OpRemove:
			removed++
		}
	}
	for i := range plan.Cgroups {
		unknown += len(plan.Cgroups[i].Unknown)
	}
	return fmt.Sprintf("%s wanted (%s, v%d): %d to create, %s to write, %d to remove, %d withheld, %s unknown",
		quantities.Count(len(plan.Cgroups), "cgroup"), plan.Driver, plan.CgroupVersion, created, quantities.Count(written, "file"), removed, len(plan.Withheld), quantities.Count(unknown, "value"))
}
