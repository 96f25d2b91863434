package cgroups

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEqual(t *testing.T) {
	for _, tt := range []struct {
		file, want, have string
		equal            bool
	}{
		{"cpu.weight", "39", "39", true},
		{"cpu.weight", "39", "40", false},
		{"cpu.max", "max", "max 100000", true},
		{"cpu.max", "20000 100000", "20000 100000", true},
		{"cpu.max", "20000 50000", "20000 100000", false},
		{"memory.max", "5000", "4096", true},
		{"memory.max", "70000", "65536", true},
		{"memory.max", "8192", "4096", false},
		{"memory.max", "4096", "5000", false},
		{"memory.max", "max", "max", true},
		{"memory.oom.group", "1", "0", false},
		{"memory.max", "max", "4096", false},
		{"memory/memory.limit_in_bytes", "-1", "9223372036854771712", true},
		{"memory/memory.limit_in_bytes", "1073741824", "9223372036854771712", false},
		{"hugetlb.2MB.max", "3145728", "2097152", true},
		{"hugetlb.2MB.max", "4611686018427387904", "4611686018427387904", true},
		{"hugetlb.2MB.max", "4194304", "2097152", false},
		{"hugetlb/hugetlb.1GB.limit_in_bytes", "1073741825", "1073741824", true},
		{"cpuset.cpus", "0,1,2,3", "0-3", true},
		{"cpuset/cpuset.cpus", "0-3", "0-2", false},
		{"cpuset.cpus", "0-3", "", false},
		{"pids.max", "max", "max", true},
		{"pids.max", "-1", "max", true},
		{"pids.max", "100", "max", false},
		{"cpu/cpu.cfs_quota_us", "-1", "100000", false},
	} {
		if got := Equal(tt.file, tt.want, tt.have); got != tt.equal {
			t.Errorf("Equal(%s, %q, %q) = %v", tt.file, tt.want, tt.have, got)
		}
	}
}

// A host whose page size is known has no other rounding.
func TestHolds(t *testing.T) {
	const file = "memory.max"
	live := Live{Files: map[string]string{file: "65536"}, PageSize: 4096}
	for want, holds := range map[string]bool{"65536": true, "69000": true, "70000": false, "81920": false} {
		if got := live.Holds(file, want); got != holds {
			t.Errorf("65536 holds %s: %v", want, got)
		}
	}
	if live.Holds("memory.high", "max") {
		t.Error("a file that is not offered holds a value")
	}
}

func TestDiff(t *testing.T) {
	want := Tree{Cgroups: []Cgroup{
		{Path: "/kubepods", Level: LevelNode, Files: map[string]string{"memory.max": "8192", "pids.max": "10"}, Why: map[string]string{"pids.max": "capacity"}},
		{Path: "/kubepods/pod1", Level: LevelPod, Files: map[string]string{"cpu.weight": "1"}},
		{
			Path: "/kubepods/burstable", Level: LevelQoS, Files: map[string]string{"cpu.weight": "5"},
			Unknown: map[string]string{"cpu.weight": "not all pods are known"},
		},
	}}
	have := LiveTree{
		"/kubepods":           {Exists: true, Files: map[string]string{"memory.max": "8192", "pids.max": "max"}},
		"/kubepods/burstable": {Exists: true, Files: map[string]string{"cpu.weight": "100"}},
	}
	got := Diff(want, have)
	expect := []Change{
		{Op: OpUpdate, Path: "/kubepods", File: "pids.max", From: "max", To: "10", Why: "capacity"},
		{Op: OpCreate, Path: "/kubepods/pod1", Why: "pod"},
		{Op: OpUpdate, Path: "/kubepods/pod1", File: "cpu.weight", To: "1"},
	}
	if diff := cmp.Diff(expect, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := Diff(want, LiveTree{}); len(again) != 6 {
		t.Errorf("from nothing: %d changes, want 3 creations and 3 files: %v", len(again), again)
	}
}

// A container's weight is right by either conversion of its shares, a pod's by the
// kubelet's alone.
func TestRuntimesWeight(t *testing.T) {
	for _, tt := range []struct {
		level  Level
		weight string
		right  bool
	}{
		{LevelContainer, "100", true},
		{LevelContainer, "39", true},
		{LevelContainer, "40", false},
		{LevelPod, "39", true},
		{LevelPod, "100", false},
	} {
		want := &Cgroup{Level: tt.level, CPUShares: 1024, Files: map[string]string{"cpu.weight": "100"}}
		if tt.level == LevelPod {
			want.Files["cpu.weight"] = "39"
		}
		changes := DiffCgroup(want, Live{Exists: true, Files: map[string]string{"cpu.weight": tt.weight}})
		if right := len(changes) == 0; right != tt.right {
			t.Errorf("cpu.weight %s of a %s: %+v", tt.weight, tt.level, changes)
		}
	}
}
