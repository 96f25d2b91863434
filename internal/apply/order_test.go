package apply

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kqos/kqos/internal/cgroups"
)

func TestLowers(t *testing.T) {
	for _, tt := range []struct {
		file, from, to string
		want           bool
	}{
		{"memory.max", "max", "4096", true},
		{"memory.max", "8192", "4096", true},
		{"memory.max", "4096", "max", false},
		{"memory/memory.limit_in_bytes", "9223372036854771712", "4096", true},
		{"memory.high", "8192", "4096", true},
		{"memory.min", "8192", "4096", false},
		{"cpu.weight", "100", "1", false},
		{"cpu.max", "20000 100000", "10000 100000", true},
		{"cpu.max", "20000 100000", "20000 200000", true},
		{"cpu.max", "20000 100000", "max 100000", false},
		{"cpu/cpu.cfs_quota_us", "-1", "20000", true},
		{"cpu/cpu.cfs_period_us", "100000", "20000", false},
		{"pids.max", "max", "10", true},
		{"cpuset.cpus", "0-3", "0-1", true},
		{"cpuset.cpus", "0-1", "2-3", true},
		{"cpuset.cpus", "0-1", "0-3", false},
		{"cpuset.cpus", "", "0-3", true},
		{"cpuset.cpus", "0-3", "", false},
	} {
		c := cgroups.Change{Op: cgroups.OpUpdate, File: tt.file, From: tt.from, To: tt.to}
		if got := lowers(c); got != tt.want {
			t.Errorf("lowers(%s %q → %q) = %v", tt.file, tt.from, tt.to, got)
		}
	}
}

func TestOrder(t *testing.T) {
	changes := []cgroups.Change{
		{Op: cgroups.OpUpdate, Path: "/k", File: "memory.max", From: "8192", To: "4096"},
		{Op: cgroups.OpUpdate, Path: "/k", File: "pids.max", From: "1", To: "2"},
		{Op: cgroups.OpUpdate, Path: "/k/a", File: "memory.max", From: "8192", To: "4096"},
		{Op: cgroups.OpUpdate, Path: "/k/a", File: "pids.max", From: "1", To: "2"},
		{Op: cgroups.OpUpdate, Path: "/k/a/shared", File: "cpuset.cpus", From: "0-3", To: "0-1"},
		{Op: cgroups.OpCreate, Path: "/k/b"},
		{Op: cgroups.OpUpdate, Path: "/k/b", File: "pids.max", To: "2"},
		{Op: cgroups.OpCreate, Path: "/k/b/exclusive"},
		{Op: cgroups.OpUpdate, Path: "/k/b/exclusive", File: "cpuset.cpus", To: "2-3"},
		{Op: cgroups.OpRemove, Path: "/k/old"},
		{Op: cgroups.OpUpdate, Path: "/", File: subtreeControl, To: "+cpu"},
		{Op: cgroups.OpUpdate, Path: "/k", File: subtreeControl, To: "+cpu"},
	}
	plain := func(at string) *cgroups.Cgroup { return &cgroups.Cgroup{Path: at} }
	var got []string
	for _, s := range (&Plan{}).order(plain, changes) {
		line := fmt.Sprintf("%s %s", s.Op, s.Cgroup.Path)
		for _, c := range s.Changes {
			if c.File != "" {
				line += " " + c.File
			}
		}
		got = append(got, line)
	}
	want := []string{
		"update /k/a/shared cpuset.cpus",
		"update / cgroup.subtree_control",
		"update /k pids.max",
		"update /k cgroup.subtree_control",
		"update /k/a pids.max",
		"create /k/b",
		"update /k/b pids.max",
		"create /k/b/exclusive",
		"update /k/b/exclusive cpuset.cpus",
		"remove /k/old",
	}
	want = append(want[:9], append([]string{"update /k/a memory.max", "update /k memory.max"}, want[9:]...)...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
