package render

import (
	"fmt"
	"io"
)

// Branch is a line of a tree with the lines below it.
type Branch struct {
	Text string
	// Cells are further columns, for a tree that is the first column of a table.
	Cells []string
	Inner []Branch
}

// Rows are the lines of the tree as rows of a table, the drawing with the text
// as their first cell.
func (b Branch) Rows(s Style) [][]string { return b.rows(nil, s, "", "") }

func (b Branch) rows(rows [][]string, s Style, first, rest string) [][]string {
	rows = append(rows, append([]string{s.Paint(Faint, first) + b.Text}, b.Cells...))
	for i, inner := range b.Inner {
		branch, stem := boxes(i == len(b.Inner)-1)
		rows = inner.rows(rows, s, rest+branch, rest+stem)
	}
	return rows
}

// boxes are what stands before a line, and before those below it.
func boxes(last bool) (branch, stem string) {
	if last {
		return "└─", "  "
	}
	return "├─", "│ "
}

// Print draws the branch as systemd-cgls does: the root at the margin, lines of
// the box kind before what is below.
func (b Branch) Print(w io.Writer, s Style) error {
	return b.print(w, s, "", "")
}

func (b Branch) print(w io.Writer, s Style, first, rest string) error {
	if _, err := fmt.Fprintln(w, s.Paint(Faint, first)+printable(b.Text, s.Color)); err != nil {
		return err
	}
	for i, inner := range b.Inner {
		branch, stem := boxes(i == len(b.Inner)-1)
		if err := inner.print(w, s, rest+branch, rest+stem); err != nil {
			return err
		}
	}
	return nil
}
