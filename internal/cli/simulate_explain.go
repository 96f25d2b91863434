package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/kqos/kqos/internal/render"
	"github.com/kqos/kqos/internal/simulate"
)

// printMerges shows, for people, how each merge of --explain went: a row for
// each list of hints, and one for the merged hint.
func printMerges(w io.Writer, s render.Style, events []simulate.EventResult) error {
	t := render.Table{Columns: []render.Column{
		{Name: "POD"}, {Name: "CONTAINER"}, {Name: "PROVIDER"}, {Name: "RESOURCE"}, {Name: "AGREED SO FAR"}, {Name: "HINTS (+ PREFERRED)"},
	}}
	addMerges(&t, s, events)
	if len(t.Rows) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return t.Print(w, s)
}

func addMerges(t *render.Table, s render.Style, events []simulate.EventResult) {
	for i := range events {
		e := &events[i]
		if e.Explain != nil {
			for j := range e.Explain.Merges {
				t.Rows = append(t.Rows, mergeRows(e.Pod, &e.Explain.Merges[j], s)...)
			}
		}
		addMerges(t, s, e.Readmit)
	}
}

func mergeRows(pod string, m *simulate.Merge, s render.Style) [][]string {
	var rows [][]string
	container := or(m.Container, "(pod)")
	for _, step := range m.Steps {
		hints := "none possible"
		if len(step.Hints) > 0 {
			hints = hintWords(step.Hints, s)
		}
		rows = append(rows, []string{pod, container, step.Provider, or(step.Resource, "-"), or(hintWords(step.Agreed, s), "nothing"), hints})
	}
	verdict := s.Paint(render.Green, "admitted")
	if !m.Admitted {
		verdict = s.Paint(render.Red, "refused")
	}
	return append(rows, []string{pod, container, "merged", "-", m.Best, verdict})
}

// hintWords shows all hints in the wide form and the first few otherwise: there
// are as many as sets of NUMA nodes.
func hintWords(hints []string, s render.Style) string {
	const most = 6
	if more := len(hints) - most; more > 0 && !s.Wide {
		return fmt.Sprintf("%s (+%d more)", strings.Join(hints[:most], " "), more)
	}
	return strings.Join(hints, " ")
}
