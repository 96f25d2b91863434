package cli

import (
	"bytes"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		terminal bool
		waited   time.Duration
		want     string
	}{
		{"long work on a terminal", true, 2 * patience, "\r3 of 9 scenarios\r\x1b[K"},
		{"short work", true, 0, ""},
		{"no terminal", false, 2 * patience, ""},
	} {
		var out bytes.Buffer
		a := &app{System: System{Err: &out, ErrTerminal: tt.terminal}}
		p := a.progress("scenarios")
		p.next = p.next.Add(-tt.waited)
		p.report(3, 9)
		// Too soon for another, and too late.
		p.report(4, 9)
		p.end()
		p.next = p.next.Add(-tt.waited)
		p.report(9, 9)
		if out.String() != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, out.String(), tt.want)
		}
	}
}
