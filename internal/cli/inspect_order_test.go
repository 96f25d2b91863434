package cli

import (
	"strings"
	"testing"
)

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
