package cli

import (
	"strings"
	"testing"
)

func TestPress(t *testing.T) {
	o := &inspectOptions{sortBy: "name"}
	for _, step := range []struct {
		key          byte
		sort, folded string
		quit         bool
	}{
		{'m', "memory", "", false},
		{'f', "memory", "container", false},
		{'f', "memory", "pod", false},
		{'f', "memory", "qos", false},
		{'f', "memory", "node", false},
		{'f', "memory", "", false},
		{'x', "memory", "", false},
		{'c', "cpu", "", false},
		{'q', "cpu", "", true},
	} {
		if quit := o.press(step.key); quit != step.quit || o.sortBy != step.sort || o.fold != step.folded {
			t.Errorf("%c: quit %v, sort %q, fold %q; want %+v", step.key, quit, o.sortBy, o.fold, step)
		}
	}
}

// A screen shows what fits and clears what stood there before.
func TestDraw(t *testing.T) {
	var out strings.Builder
	s := &screen{live: true, out: &out, size: func() (rows, columns int) { return 2, 4 }}
	if err := s.draw("├─abcdef\n\x1b[31mred\x1b[0m!\nbelow\n"); err != nil {
		t.Fatal(err)
	}
	want := home + "├─ab\x1b[0m" + clearLine + "\r\n\x1b[31mred\x1b[0m!" + clearLine + clearRest
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// All cgroups stay when they are sorted, and none comes before its parent.
func TestInspectOrder(t *testing.T) {
	pids := func(n int64) inspectedUsage { return inspectedUsage{PIDs: &n} }
	v := &cgroupInspection{Cgroups: []inspectedCgroup{
		{Path: "/a", Usage: pids(1)},
		{Path: "/a/x", Usage: pids(9)},
		{Path: "/b", Usage: pids(2)},
		{Path: "/b/c/deep", Usage: pids(1)},
		{Path: "/b/d", Usage: pids(3)},
	}}
	o := &inspectOptions{sortBy: "pids"}
	o.order(v)
	var got []string
	for _, c := range v.Cgroups {
		got = append(got, c.Path)
	}
	if text := strings.Join(got, " "); text != "/b /b/d /b/c/deep /a /a/x" {
		t.Errorf("order %s", text)
	}
}
