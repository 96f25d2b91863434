package cgroups

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUseFile(t *testing.T) {
	for file, want := range map[string]string{
		"memory.max":                         "memory.current",
		"memory.swap.max":                    "memory.swap.current",
		"pids.max":                           "pids.current",
		"hugetlb.2MB.max":                    "hugetlb.2MB.current",
		"hugetlb.2MB.rsvd.max":               "hugetlb.2MB.rsvd.current",
		"cpu.max":                            "",
		"memory.high":                        "",
		"cpu.weight":                         "",
		"cpuset.cpus":                        "",
		"memory/memory.limit_in_bytes":       "memory/memory.usage_in_bytes",
		"memory/memory.memsw.limit_in_bytes": "memory/memory.memsw.usage_in_bytes",
		"pids/pids.max":                      "pids/pids.current",
		"hugetlb/hugetlb.1GB.rsvd.limit_in_bytes": "hugetlb/hugetlb.1GB.rsvd.usage_in_bytes",
		"cpu/cpu.shares": "",
	} {
		if got := UseFile(file); got != want {
			t.Errorf("UseFile(%q) = %q, want %q", file, got, want)
		}
	}
}

func TestSplitFile(t *testing.T) {
	type pair struct{ Controller, File string }
	got := map[string]pair{}
	for _, key := range []string{"cpu/cpu.shares", "memory.max", "hugetlb/hugetlb.2MB.limit_in_bytes", "cgroup.subtree_control"} {
		c, f := SplitFile(key)
		got[key] = pair{c, f}
	}
	want := map[string]pair{
		"cpu/cpu.shares":                     {"cpu", "cpu.shares"},
		"memory.max":                         {"memory", "memory.max"},
		"hugetlb/hugetlb.2MB.limit_in_bytes": {"hugetlb", "hugetlb.2MB.limit_in_bytes"},
		"cgroup.subtree_control":             {"cgroup", "cgroup.subtree_control"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("SplitFile (-want +got):\n%s", diff)
	}
}
