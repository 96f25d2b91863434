package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInherited reads of a kernel's cgroup only what its parent does not tell of
// it; of one whose parent was not read, and of a copy, all.
func TestInherited(t *testing.T) {
	root := t.TempDir()
	pressure := func(share string) string { return "some avg10=" + share + " avg60=0.00 avg300=0.00 total=1\n" }
	write(t, root, map[string]string{
		"sys/fs/cgroup/cgroup.controllers": "cpuset cpu memory",
		"sys/fs/cgroup/a/cpuset.cpus":      "\n", "sys/fs/cgroup/a/cpuset.cpus.effective": "0-7\n",
		"sys/fs/cgroup/a/cpu.pressure": pressure("12.50"), "sys/fs/cgroup/a/memory.pressure": pressure("0.00"),
		// What this one's own files tell is not asked.
		"sys/fs/cgroup/a/shared/cpuset.cpus": "\n", "sys/fs/cgroup/a/shared/cpuset.cpus.effective": "0-6\n",
		"sys/fs/cgroup/a/shared/cpu.pressure": pressure("1.50"), "sys/fs/cgroup/a/shared/memory.pressure": pressure("3.00"),
		"sys/fs/cgroup/a/own/cpuset.cpus": "2-3\n", "sys/fs/cgroup/a/own/cpuset.cpus.effective": "2-3\n",
		"sys/fs/cgroup/a/bare/memory.pressure": pressure("0.00"),
	})
	look := func(top string, kernels bool) map[string]Cgroup {
		t.Helper()
		h, err := Open(root)
		if err != nil {
			t.Fatal(err)
		}
		h.kernels = kernels
		i := Inspection{Root: root, Hierarchy: h, Owners: HostOwners(root), Tops: []string{top}}
		i.Walk()
		seen := map[string]Cgroup{}
		for _, c := range i.Run(t.Context()).Cgroups {
			seen[c.Path] = c
		}
		return seen
	}
	whole, alone, copied := look("/a", true), look("/a/shared", true), look("/a", false)
	effective := func(c Cgroup) string { return c.Files["cpuset.cpus.effective"] }
	for _, tt := range []struct {
		name      string
		c         Cgroup
		effective string
		pressure  map[string]float64
	}{
		{"top", whole["/a"], "0-7", map[string]float64{"cpu": 12.5, "memory": 0}},
		{"shared", whole["/a/shared"], "0-7", map[string]float64{"cpu": 1.5, "memory": 0}},
		{"own", whole["/a/own"], "2-3", map[string]float64{"memory": 0}},
		{"bare", whole["/a/bare"], "", map[string]float64{"memory": 0}},
		{"copied", copied["/a/shared"], "0-6", map[string]float64{"cpu": 1.5, "memory": 3}},
		{"alone", alone["/a/shared"], "0-6", map[string]float64{"cpu": 1.5, "memory": 3}},
	} {
		if got := effective(tt.c); got != tt.effective {
			t.Errorf("%s: effective CPUs %q, want %q", tt.name, got, tt.effective)
		}
		if d := cmp.Diff(tt.pressure, tt.c.Usage.Pressure); d != "" {
			t.Errorf("%s: pressure (-want +got):\n%s", tt.name, d)
		}
	}
}
