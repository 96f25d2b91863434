package cgroups

import "testing"

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
