package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/render"
	"github.com/kqos/kqos/internal/simulate"
)

// printSimulation shows a result to people: a row for each container, a
// sentence for each refusal, and what is left.
func printSimulation(w io.Writer, s render.Style, r simulation) error {
	if r.StartError != nil {
		_, err := fmt.Fprintf(w, "the kubelet does not start (%s): %s%s\n", r.StartError.Stage, r.StartError.Message, meantAtStart(r.StartError))
		return err
	}
	t := placementTable(r, s)
	if len(t.Rows) > 0 {
		if err := t.Print(w, s); err != nil {
			return err
		}
	}
	if text := strings.Join(append(refusals(r.Events), leftText(r), fitText(r.Fit)), ""); text != "" {
		if len(t.Rows) > 0 {
			text = "\n" + text
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return printMerges(w, s, r.Events)
}

// placementTable has a column for the event only where pods do more than come.
func placementTable(r simulation, s render.Style) render.Table {
	t := render.Table{Columns: []render.Column{
		{Name: "EVENT"},
		{Name: "POD"},
		{Name: "CONTAINER"},
		{Name: "CPUS"},
		{Name: "POOL"},
		{Name: "NUMA"},
		{Name: "MEMORY"},
		{Name: "DEVICES"},
		{Name: "AFFINITY", Wide: true},
		{Name: "MEMS", Wide: true},
		{Name: "MESSAGE", Wide: true},
	}}
	for i := range r.Events {
		t.Rows = append(t.Rows, eventRows(&r.Events[i], r.machine, s)...)
	}
	if !slices.ContainsFunc(r.Events, func(e simulate.EventResult) bool { return e.Op != simulate.OpAdd }) {
		t.Columns = t.Columns[1:]
		for i := range t.Rows {
			t.Rows[i] = t.Rows[i][1:]
		}
	}
	return t
}

func eventRows(e *simulate.EventResult, m *machine.Machine, s render.Style) [][]string {
	switch {
	case e.Panic != "" && len(e.Readmit) == 0:
		return [][]string{{e.Op, or(e.Pod, "-"), "-", s.Paint(render.Red, "the kubelet crashes"), "", "", "", "", "", "", e.Panic}}
	case e.Admitted != nil && !*e.Admitted:
		return [][]string{{e.Op, e.Pod, "-", s.Paint(render.Red, "refused: "+e.Reason), "", "", "", "", "", "", e.Message}}
	case e.StartError != nil:
		return [][]string{{e.Op, "-", "-", s.Paint(render.Red, "does not start: "+e.StartError.Stage), "", "", "", "", "", "", e.StartError.Message}}
	case e.Op == simulate.OpAdd || e.Op == simulate.OpReadmit:
		var rows [][]string
		for i := range e.Containers {
			rows = append(rows, containerRow(e, &e.Containers[i], m))
		}
		return rows
	}
	rows := [][]string{{e.Op, or(e.Pod, "-"), "-", "-", "-", "-", "-", "-", "-", "-", e.Message}}
	for i := range e.Readmit {
		rows = append(rows, eventRows(&e.Readmit[i], m, s)...)
	}
	return rows
}

func containerRow(e *simulate.EventResult, c *simulate.Container, m *machine.Machine) []string {
	name := c.Name
	if c.Kind != "" {
		name += " (" + c.Kind + ")"
	}
	pool := "shared"
	switch {
	case c.CPUs == "":
		pool = "-"
	case c.Exclusive:
		pool = "exclusive"
	}
	return []string{
		e.Op, e.Pod, name, or(c.CPUs, "any"), pool, nodesOf(c, m), memoryText(c.Memory), or(devicesText(c.Devices), "-"),
		affinityText(c.Affinity), or(c.Mems, "-"), "",
	}
}

// nodesOf are the NUMA nodes of a container's own CPUs.
func nodesOf(c *simulate.Container, m *machine.Machine) string {
	cpus, err := cpuset.Parse(c.CPUs)
	if err != nil || !c.Exclusive || m == nil {
		return "-"
	}
	var nodes []int
	for _, cpu := range m.CPUs {
		if cpus.Contains(cpu.ID) {
			nodes = append(nodes, cpu.NUMA)
		}
	}
	return cpuset.New(nodes...).String()
}

// memoryText is what is pinned: "4Gi on 0", "hugepages-2Mi 64Mi on 0-1".
func memoryText(blocks []simulate.Memory) string {
	var words []string
	for _, b := range blocks {
		size := resource.NewQuantity(int64(min(b.Size, 1<<62)), resource.BinarySI).String()
		text := fmt.Sprintf("%s on %s", size, cpuset.New(b.NUMA...))
		if b.Type != "memory" {
			text = string(b.Type) + " " + text
		}
		words = append(words, text)
	}
	return or(strings.Join(words, ", "), "-")
}

func devicesText(devices map[string][]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(devices)) {
		parts = append(parts, name+"="+strings.Join(devices[name], ","))
	}
	return strings.Join(parts, " ")
}

func affinityText(a *simulate.Affinity) string {
	switch {
	case a == nil:
		return "-"
	case a.NUMA == nil:
		return "any"
	case a.Preferred:
		return cpuset.New(a.NUMA...).String()
	}
	return cpuset.New(a.NUMA...).String() + " (not preferred)"
}

// refusals are what the kubelet says about each refused pod, and why.
func refusals(events []simulate.EventResult) []string {
	var lines []string
	for i := range events {
		e := &events[i]
		switch {
		case e.StartError != nil:
			lines = append(lines, fmt.Sprintf("%s: the kubelet does not start (%s): %s%s\n", e.Op, e.StartError.Stage, e.StartError.Message, meantAtStart(e.StartError)))
		case e.Why != "":
			message := e.Reason + ": " + e.Message
			if e.Panic != "" {
				message = e.Panic
			}
			lines = append(lines, fmt.Sprintf("%s: %s\n  %s\n", e.Pod, message, e.Why))
		case e.Op == simulate.OpRemove && e.Message != "":
			lines = append(lines, fmt.Sprintf("%s: %s\n", e.Pod, e.Message))
		}
		lines = append(lines, refusals(e.Readmit)...)
	}
	return lines
}

// leftText counts the CPUs that can still become exclusive.
func leftText(r simulation) string {
	state := r.Initial
	for i := range r.Events {
		if r.Events[i].After != nil {
			state = r.Events[i].After
		}
	}
	if state == nil || r.Allocatable == "" {
		return ""
	}
	shared, err := cpuset.Parse(state.Default)
	reserved, err2 := cpuset.Parse(r.Reserved)
	if err != nil || err2 != nil {
		return ""
	}
	left := shared.Difference(reserved)
	switch left.Size() {
	case 0:
		return "No CPU is left for exclusive use.\n"
	case 1:
		return fmt.Sprintf("1 CPU is left for exclusive use: %s\n", left)
	}
	return fmt.Sprintf("%d CPUs are left for exclusive use: %s\n", left.Size(), left)
}
