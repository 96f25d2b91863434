package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	quantities "github.com/kqos/kqos/internal/quantity"
	"github.com/kqos/kqos/internal/render"
)

// driftTable has a row for each difference.
func driftTable(v *cgroupInspection, s render.Style) render.Table {
	t := render.Table{Columns: []render.Column{
		{Name: "DRIFTED"}, {Name: "FILE"}, {Name: "WANT"}, {Name: "HAVE"}, {Name: "PROBABLY WRITTEN BY"}, {Name: "WHY", Wide: true}, {Name: "PATH", Wide: true},
	}}
	for i := range v.Cgroups {
		c := &v.Cgroups[i]
		for _, d := range c.Drift {
			if d.Unverified {
				d.Writer = "unverified: of a version that kqos does not know"
			}
			t.Rows = append(t.Rows, []string{
				c.place(), dash(d.File), or(d.Want, `""`), s.Paint(render.Yellow, or(d.Have, `""`)), d.Writer, d.Why, c.Path,
			})
		}
	}
	return t
}

func leakTable(v *cgroupInspection) render.Table {
	t := render.Table{Columns: []render.Column{{Name: "LEAKED"}, {Name: "WHY"}, {Name: "PIDS", Wide: true}}}
	for _, l := range v.Leaks {
		t.Rows = append(t.Rows, []string{l.Path, l.Why, dash(numbers(l.PIDs))})
	}
	return t
}

// shownIntruders is how many a table lists unless it is wide: on a host that
// confines nothing, every process is one.
const shownIntruders = 20

func intruderTable(v *cgroupInspection, all bool) render.Table {
	t := render.Table{Columns: []render.Column{{Name: "INTRUDER"}, {Name: "PID", Right: true}, {Name: "IRQ", Right: true}, {Name: "CPUS"}, {Name: "OWNER OF THE CPUS"}}}
	for n, i := range v.Intruders {
		if !all && n == shownIntruders {
			t.Rows = append(t.Rows, []string{fmt.Sprintf("and %d more: -o wide", len(v.Intruders)-n)})
			break
		}
		pid := "-"
		if i.PID > 0 {
			pid = strconv.Itoa(i.PID)
		}
		t.Rows = append(t.Rows, []string{i.Comm, pid, dash(i.IRQ), i.CPUs, i.Owner})
	}
	return t
}

// alignmentTable has a row for each container with CPUs of its own.
func alignmentTable(v *cgroupInspection, s render.Style) render.Table {
	t := render.Table{Columns: []render.Column{
		{Name: "EXCLUSIVE"}, {Name: "CPUS"}, {Name: "SHARED CORES"}, {Name: "LLC"}, {Name: "NUMA"}, {Name: "SOCKET"}, {Name: "MEMORY"}, {Name: "PATH", Wide: true},
	}}
	for _, owner := range slices.Sorted(maps.Keys(v.Alignment)) {
		a := v.Alignment[owner]
		numa := idList(a.NUMA)
		if len(a.NUMA) > 1 {
			numa = s.Paint(render.Yellow, numa)
		}
		var memory []string
		for _, node := range slices.Sorted(maps.Keys(a.Memory)) {
			memory = append(memory, node+": "+quantities.Bytes(a.Memory[node]))
		}
		t.Rows = append(t.Rows, []string{
			owner, a.CPUs, s.Paint(render.Yellow, dash(a.SharedCores)), idList(a.LLCs), numa, idList(a.Sockets), dash(strings.Join(memory, ", ")), a.Path,
		})
	}
	return t
}
