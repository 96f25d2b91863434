package render

import (
	"fmt"
	"io"
)

// Branch is a line of a tree with the lines below it.
type Branch struct {
	Text  string
	Inner []Branch
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
		branch, stem := "├─", "│ "
		if i == len(b.Inner)-1 {
			branch, stem = "└─", "  "
		}
		if err := inner.print(w, s, rest+branch, rest+stem); err != nil {
			return err
		}
	}
	return nil
}
