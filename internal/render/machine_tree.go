package render

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/machine"
)

// MachineTree draws a machine as a tree. Neighbouring cores that differ in
// nothing but their numbers share a line.
func MachineTree(w io.Writer, m *machine.Machine, marks machine.Marks, s Style) error {
	t := machineTree{m, marks, s}
	return t.branch(m.Layout()).Print(w, s)
}

type machineTree struct {
	machine *machine.Machine
	marks   machine.Marks
	style   Style
}

func (t machineTree) branch(b *machine.Box) Branch {
	branch := Branch{Text: boxTitle(t.machine, b)}
	if b.Kind == machine.BoxOffline {
		branch.Text += "  CPUs " + listOf(b.CPUs)
		return branch
	}
	if b.Node != nil {
		for _, d := range devicesOn(t.machine, b.Node.ID) {
			branch.Inner = append(branch.Inner, Branch{Text: d})
		}
	}
	var run []*machine.Box
	for _, inner := range b.Inner {
		if inner.Kind != machine.BoxCore {
			branch.Inner = append(branch.Inner, t.branch(inner))
			continue
		}
		if len(run) > 0 && t.coreText(run[0]) != t.coreText(inner) {
			branch.Inner = append(branch.Inner, t.cores(run))
			run = nil
		}
		run = append(run, inner)
	}
	if len(run) > 0 {
		branch.Inner = append(branch.Inner, t.cores(run))
	}
	if b.Kind == machine.BoxMachine {
		for _, d := range devicesOn(t.machine, anyNode) {
			branch.Inner = append(branch.Inner, Branch{Text: d})
		}
	}
	return branch
}

// coreText is what two cores must have in common to share a line.
func (t machineTree) coreText(b *machine.Box) string {
	var words []string
	for _, c := range b.CPUs {
		words = append(words, t.marks[c.ID].String())
		if c.Hidden != "" {
			words = append(words, c.Hidden)
		}
	}
	if len(slices.Compact(slices.Clone(words))) == 1 {
		words = words[:1]
	}
	text := strings.Join(words, " / ")
	if len(b.CPUs) > 1 {
		text = fmt.Sprintf("%d threads  %s", len(b.CPUs), text)
	}
	if b.Type != "" {
		text = string(b.Type) + "  " + text
	}
	return strings.TrimSpace(text)
}

func (t machineTree) cores(run []*machine.Box) Branch {
	var cpus []machine.CPU
	ids := map[int]bool{}
	for _, b := range run {
		cpus = append(cpus, b.CPUs...)
		ids[b.ID] = true
	}
	name := "core "
	if len(run) > 1 {
		name = "cores "
	}
	text := name + cpuset.New(slices.Collect(maps.Keys(ids))...).String() + "  CPUs " + listOf(cpus)
	if common := t.coreText(run[0]); common != "" {
		text += "  " + t.style.Paint(markColor(t.marks[run[0].CPUs[0].ID].State), common)
	}
	return Branch{Text: text}
}

func markColor(s machine.State) Color {
	switch s {
	case machine.Exclusive:
		return Green
	case machine.Reserved:
		return Yellow
	case machine.Offline:
		return Faint
	}
	return Bold
}

func listOf(cpus []machine.CPU) string {
	ids := make([]int, len(cpus))
	for i, c := range cpus {
		ids[i] = c.ID
	}
	return cpuset.New(ids...).String()
}
