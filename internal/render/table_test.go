package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
