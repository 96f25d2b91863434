package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/fleet"
	"github.com/kqos/kqos/internal/render"
)

// fleetReport is the contract of fleet.
type fleetReport struct {
	typeMeta
	*fleet.Report
}

func fleetView(r *fleet.Report, fit bool) view {
	nodes := fleetTable(r, fit)
	var names []string
	for _, n := range r.Nodes {
		names = append(names, "node/"+n.Name)
	}
	return view{object: fleetReport{kind("FleetReport"), r}, names: names, csv: &nodes, text: func(w io.Writer, s render.Style) error {
		return printTables(w, s, nodes, candidateTable(r), groupTable(r, s.Wide), findingTable(r))
	}}
}

// fleetTable has a node a row.
func fleetTable(r *fleet.Report, fit bool) render.Table {
	t := render.Table{Columns: []render.Column{
		{Name: "NODE"},
		{Name: "FINDINGS", Right: true},
		{Name: "GROUP", Right: true},
		{Name: "VERSION"},
		{Name: "PODS", Right: true},
		{Name: "CPU", Right: true},
		{Name: "CPU%", Right: true},
		{Name: "MEMORY", Right: true},
		{Name: "MEMORY%", Right: true},
		{Name: "GUARANTEED", Right: true, Wide: true},
		{Name: "BURSTABLE", Right: true, Wide: true},
		{Name: "BESTEFFORT", Right: true, Wide: true},
		{Name: "OWN-CPUS", Right: true, Wide: true},
		{Name: "DIFFERS", Wide: true},
		{Name: "KILLED-FIRST", Wide: true},
		{Name: "PLACEMENT", Wide: true},
		{Name: "REFUSED", Right: true},
		{Name: "LARGEST", Right: true},
		{Name: "STRANDED", Right: true},
		{Name: "FITS", Right: true, Wide: !fit},
	}}
	for _, n := range r.Nodes {
		row := []string{n.Name, strconv.Itoa(n.Findings), strconv.Itoa(n.Group), versionCell(n), strconv.Itoa(n.Pods)}
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			row = append(row, amount(name, n.Requests[name], false), percent(n, name))
		}
		for _, class := range []corev1.PodQOSClass{corev1.PodQOSGuaranteed, corev1.PodQOSBurstable, corev1.PodQOSBestEffort} {
			row = append(row, strconv.Itoa(n.Classes[class].Pods))
		}
		row = append(row, strconv.FormatInt(n.ExclusiveCPUs, 10), differsCell(n), killedCell(n))
		row = append(row, placementCells(&n.Placement)...)
		t.Rows = append(t.Rows, row)
	}
	return t
}

// versionCell marks a version whose rules are not known.
func versionCell(n *fleet.Node) string {
	text := or(n.KubeletVersion, "-")
	if n.Unverified != "" {
		text += " (unverified)"
	}
	return text
}

// percent is the requested part of allocatable.
func percent(n *fleet.Node, name corev1.ResourceName) string {
	asked, offered := n.Requests[name], n.Allocatable[name]
	if offered.Sign() <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", 100*asked.AsApproximateFloat64()/offered.AsApproximateFloat64())
}

func differsCell(n *fleet.Node) string {
	if n.Computed == nil {
		return "unknown"
	}
	var words []string
	for _, d := range n.Differs {
		words = append(words, string(d.Resource)+":"+or(d.Term, "unexplained"))
	}
	return or(strings.Join(words, ","), "no")
}

func killedCell(n *fleet.Node) string {
	if len(n.KilledFirst) == 0 {
		return "-"
	}
	first := n.KilledFirst[0]
	return fmt.Sprintf("%s/%s (%d)", first.Pod, first.Container, first.OOMScoreAdj)
}

// placementCells are the ground of the answer and the answers.
func placementCells(p *fleet.Placement) []string {
	number := func(n *int) string {
		if n == nil {
			return "unknown"
		}
		return strconv.Itoa(*n)
	}
	if p.Answer == fleet.AnswerSums {
		// Without a manager nothing is placed, and nothing refused.
		return []string{p.Answer, "0", "-", "-", number(p.Fits)}
	}
	refused := "unknown"
	if p.Answer != fleet.AnswerUnknown {
		refused = strconv.Itoa(len(p.Refused))
	}
	return []string{p.Answer, refused, number(p.LargestCPUs), number(p.StrandedCPUs), number(p.Fits)}
}

// groupTable has a group a row, with its first nodes.
func groupTable(r *fleet.Report, wide bool) render.Table {
	t := render.Table{Columns: []render.Column{{Name: "GROUP", Right: true}, {Name: "NODES", Right: true}, {Name: "VERSION"}, {Name: "MACHINE"}, {Name: "ODD"}, {Name: "DIFFERS FROM"}, {Name: "SUCH AS"}}}
	for _, g := range r.Groups {
		odd, differs := "-", "-"
		if g.Odd {
			odd = "odd"
		}
		if len(g.Differs) > 0 {
			differs = fmt.Sprintf("group %d: %s", g.Of, strings.Join(g.Differs, "; "))
		}
		shown := 3
		if wide {
			shown = 12
		}
		such := strings.Join(g.Nodes[:min(shown, len(g.Nodes))], ",")
		t.Rows = append(t.Rows, []string{strconv.Itoa(g.Number), strconv.Itoa(len(g.Nodes)), or(g.KubeletVersion, "-"), g.Machine, odd, differs, such})
	}
	return t
}

func findingTable(r *fleet.Report) render.Table {
	t := render.Table{Columns: []render.Column{{Name: "NODE"}, {Name: "FINDING"}, {Name: "MESSAGE"}, {Name: "FIX", Wide: true}}}
	for _, f := range r.Findings {
		t.Rows = append(t.Rows, []string{f.Node, f.ID, f.Message, f.Fix})
	}
	return t
}

// candidateTable has a row for each node and resource that a candidate moves.
func candidateTable(r *fleet.Report) render.Table {
	t := render.Table{Columns: []render.Column{{Name: "NODE"}, {Name: "CANDIDATE MOVES"}, {Name: "BEFORE", Right: true}, {Name: "AFTER", Right: true}, {Name: "REFUSED PODS", Right: true}, {Name: "INVALID STATE"}}}
	for _, n := range r.Nodes {
		c := n.Candidate
		if c == nil {
			continue
		}
		var invalid []string
		for _, s := range c.InvalidState {
			invalid = append(invalid, s.File)
		}
		if c.StateUnknown != "" {
			invalid = append(invalid, "unknown without the topology")
		}
		last := []string{strconv.Itoa(len(c.Refused)), or(strings.Join(invalid, ", "), "-")}
		if c.More {
			last[0] += "+"
		}
		switch {
		case c.Unknown != "":
			t.Rows = append(t.Rows, []string{n.Name, "unknown", "-", "-", "-", "-"})
		case len(c.Errors) > 0:
			t.Rows = append(t.Rows, append([]string{n.Name, "the kubelet would not start", "-", "-"}, last...))
		case len(c.Moved) == 0:
			t.Rows = append(t.Rows, append([]string{n.Name, "nothing", "-", "-"}, last...))
		}
		for i, m := range c.Moved {
			if len(c.Errors) > 0 {
				break
			}
			row := []string{n.Name, string(m.Resource), amount(m.Resource, m.Before, false), amount(m.Resource, m.After, false)}
			if i == 0 {
				row = append(row, last...)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	slices.SortStableFunc(t.Rows, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	return t
}
