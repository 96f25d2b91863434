package manifest

import (
	"fmt"
	"strings"
	"testing"
)

// Pods come in their order and in parts; what else the inputs hold is there
// before the first, and all that is told stands in the order of the inputs.
func TestBatches(t *testing.T) {
	const n = 2*batch + 10
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d"},"spec":{"nodeNam":"typo%d"}}`+"\n", i, i)
	}
	text.WriteString(`{"apiVersion":"v1","kind":"LimitRange"}` + "\n" + `{"apiVersion":"v1","kind":"Secret"}`)
	s := newStream(scan("f", []byte(text.String()), Options{}))
	if len(s.Found.LimitRanges) != 1 || len(s.Found.Workloads)+len(s.Found.Warnings) != 0 {
		t.Errorf("found at first: %+v", tell(&s.Found))
	}
	parts, seen := 0, 0
	var warnings []*Problem
	for in := range s.Batches() {
		parts++
		if len(in.Workloads) > batch {
			t.Errorf("%d pods at once", len(in.Workloads))
		}
		for _, w := range in.Workloads {
			if want := fmt.Sprintf("p%d", seen); w.Pod.Name != want || w.Source.Document != seen+1 {
				t.Fatalf("pod %s of document %d, want %s", w.Pod.Name, w.Source.Document, want)
			}
			seen++
		}
		warnings = append(warnings, in.Warnings...)
	}
	if parts != 3 || seen != n || len(warnings) != n+1 {
		t.Errorf("%d parts, %d pods, %d warnings, want 3, %d, %d", parts, seen, len(warnings), n, n+1)
	}
	for i, w := range warnings[:n] {
		if w.Document != i+1 {
			t.Fatalf("warning %d is of document %d", i, w.Document)
		}
	}
	for range s.Batches() {
		t.Error("a second range gives more")
	}
}
