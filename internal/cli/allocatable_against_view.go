package cli

import (
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/render"
)

// comparisonView shows what moved; terms that look alike as rounded are shown
// exactly.
func comparisonView(c *comparison) view {
	text := func(name corev1.ResourceName, q *resource.Quantity, exact bool) string {
		if q == nil {
			return "-"
		}
		return amount(name, *q, exact)
	}
	moved := func(exact bool) render.Table {
		t := render.Table{Columns: []render.Column{
			{Name: "RESOURCE"}, {Name: "TERM"}, {Name: "BEFORE", Right: true}, {Name: "AFTER", Right: true},
		}}
		for _, m := range c.Moved {
			before, after := text(m.Resource, m.Before, exact), text(m.Resource, m.After, exact)
			if before == after {
				before, after = text(m.Resource, m.Before, true), text(m.Resource, m.After, true)
			}
			t.Rows = append(t.Rows, []string{string(m.Resource), m.Name, before, after})
		}
		return t
	}
	files := render.Table{Columns: []render.Column{{Name: "ENFORCED ON"}, {Name: "FILE"}, {Name: "BEFORE", Right: true}, {Name: "AFTER", Right: true}}}
	for _, f := range c.ChangedFiles {
		files.Rows = append(files.Rows, []string{f.Path, f.File, or(f.Before, "-"), or(f.After, "-")})
	}
	states := render.Table{Columns: []render.Column{{Name: "INVALID STATE FILE"}, {Name: "ONLY IF"}, {Name: "WHY"}}}
	for _, s := range c.InvalidState {
		states.Rows = append(states.Rows, []string{s.File, or(s.OnlyIf, "-"), s.Why})
	}
	exact := moved(true)
	return view{object: c, csv: &exact, text: func(w io.Writer, s render.Style) error {
		if len(c.Moved)+len(c.ChangedFiles)+len(c.InvalidState) == 0 {
			_, err := fmt.Fprintln(w, "nothing moves")
			return err
		}
		return printTables(w, s, moved(s.Wide), files, states)
	}}
}
