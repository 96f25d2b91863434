package render

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/olekukonko/tablewriter/tw"
)

func TestTable(t *testing.T) {
	table := Table{
		Columns: []Column{{Name: "POD"}, {Name: "CPU", Right: true}, {Name: "WHY", Wide: true}},
		Rows:    [][]string{{"a", "100m", "a long reason of several words"}, {"longer", "2"}},
	}
	for name, c := range map[string]struct {
		style Style
		want  string
	}{
		"narrow": {Style{}, "POD       CPU\na        100m\nlonger      2\n"},
		"no headers": {
			Style{NoHeaders: true}, "a        100m\nlonger      2\n",
		},
		"wide": {
			Style{Wide: true},
			"POD       CPU   WHY\na        100m   a long reason of several words\nlonger      2\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := table.Print(&b, c.style); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, b.String()); d != "" {
				t.Error("-want +got:\n" + d)
			}
		})
	}
	var b strings.Builder
	if err := table.CSV(&b, Style{}); err != nil {
		t.Fatal(err)
	}
	want := "POD,CPU,WHY\na,100m,a long reason of several words\nlonger,2,\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error("-want +got:\n" + d)
	}
}

func BenchmarkTable(b *testing.B) {
	row := []string{"namespace", "some-pod-name", "Burstable", "100m", "128Mi", "a reason"}
	t := Table{Columns: make([]Column, len(row))}
	for range 10_000 {
		t.Rows = append(t.Rows, row)
	}
	for b.Loop() {
		if err := t.Print(&strings.Builder{}, Style{Wide: true}); err != nil {
			b.Fatal(err)
		}
	}
}

// A table of several blocks looks as if it were laid out at once.
func TestPrintInBlocks(t *testing.T) {
	table := Table{Columns: []Column{{Name: "NAME"}, {Name: "NUMBER", Right: true}, {Name: "LAST"}}}
	for i := range 2*blockRows + 10 {
		name := fmt.Sprintf("n%d", i*i)
		if i == blockRows+1 {
			name = "名前が長い\x1b[31mred\x1b[0m"
		}
		table.Rows = append(table.Rows, []string{name, strconv.Itoa(i), strings.Repeat("x", i%7)})
	}
	for _, s := range []Style{{}, {NoHeaders: true}, {Color: true}} {
		var got, want bytes.Buffer
		if err := table.Print(&got, s); err != nil {
			t.Fatal(err)
		}
		l := layout{color: s.Color, align: []tw.Align{tw.AlignLeft, tw.AlignRight, tw.AlignLeft}}
		header := table.header([]int{0, 1, 2})
		if s.NoHeaders {
			header = nil
		}
		var rows [][]string
		for _, row := range table.Rows {
			rows = append(rows, slices.Clone(row))
		}
		if err := l.print(&want, header, rows); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.String(), got.String()); diff != "" {
			t.Errorf("%+v (-at once +in blocks):\n%.2000s", s, diff)
		}
	}
}
