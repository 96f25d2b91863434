package inspect

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kqos/kqos/internal/cgroups"
)

const tier = "sys/fs/cgroup/kubepods/burstable/"

func monitored(t *testing.T) (root string, m *Monitor) {
	t.Helper()
	root = t.TempDir()
	write(t, root, map[string]string{
		"proc/uptime":                      "1.0 1.0\n",
		"sys/fs/cgroup/cgroup.controllers": "cpu memory",
		tier + "poda/cpu.stat":             "usage_usec 1000000\n",
		tier + "poda/memory.current":       "4096\n",
		tier + "poda/cpu.weight":           "4\n",
		tier + "podb/cpu.stat":             "usage_usec 1000000\n",
		tier + "podb/memory.current":       "4096\n",
	})
	h, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	want := &cgroups.Tree{Driver: cgroups.Cgroupfs, Version: 2, Cgroups: []cgroups.Cgroup{
		{Path: "/kubepods/burstable/poda", Level: cgroups.LevelPod, Pod: &cgroups.PodRef{Name: "a", UID: "a"}, Files: map[string]string{"cpu.weight": "4"}},
	}}
	m = NewMonitor(&Inspection{Root: root, Hierarchy: h, Owners: HostOwners(root), Tops: []string{"/kubepods"}, Want: want, Whole: true}, 64)
	t.Cleanup(m.Close)
	return root, m
}

func cgroupAt(t *testing.T, r *Report, path string) Cgroup {
	t.Helper()
	n := slices.IndexFunc(r.Cgroups, func(c Cgroup) bool { return c.Path == path })
	if n < 0 {
		t.Fatalf("%s is not among %d cgroups", path, len(r.Cgroups))
	}
	return r.Cgroups[n]
}

func TestMonitorFigures(t *testing.T) {
	root, m := monitored(t)
	if _, changed := m.Look(t.Context(), Focus{}); !changed {
		t.Error("the first look saw no change")
	}
	write(t, root, map[string]string{
		"proc/uptime":                "2.0 2.0\n",
		tier + "poda/cpu.stat":       "usage_usec 2000000\n",
		tier + "poda/memory.current": "8192\n",
		tier + "podb/cpu.stat":       "usage_usec 2000000\n",
		tier + "podb/memory.current": "8192\n",
	})
	m.turn = 10 // nobody's of four cgroups
	r, changed := m.Look(t.Context(), Focus{Shown: func(path string) bool { return strings.HasSuffix(path, "poda") }, Key: "cpu"})
	a, b := cgroupAt(t, r, "/kubepods/burstable/poda"), cgroupAt(t, r, "/kubepods/burstable/podb")
	switch {
	case changed:
		t.Error("a change was seen where there was none")
	case *a.Usage.Memory != 8192 || a.Rate == nil || *a.Rate <= 0:
		t.Errorf("shown: %+v at %v", a.Usage, a.Rate)
	case *b.Usage.Memory != 4096 || b.Rate == nil || b.Usage.CPU.Seconds() != 2:
		t.Errorf("not shown, sorted by CPU: memory %d, CPU %s at %v", *b.Usage.Memory, b.Usage.CPU, b.Rate)
	}
	m.turn = 3 // podb's
	r, _ = m.Look(t.Context(), Focus{Shown: func(string) bool { return false }})
	if b := cgroupAt(t, r, "/kubepods/burstable/podb"); *b.Usage.Memory != 8192 {
		t.Errorf("in its turn: memory %d", *b.Usage.Memory)
	}
}

// TestMonitorRounds finds drift in the cgroup's turn and leaks once a round.
func TestMonitorRounds(t *testing.T) {
	root, m := monitored(t)
	m.Look(t.Context(), Focus{})
	write(t, root, map[string]string{tier + "poda/cpu.weight": "7\n", "var/lib/kubelet/pods/a/x": ""})
	m.inspection.Owners = HostOwners(root)
	drifted, leaks := 0, 0
	for range turns {
		r, _ := m.Look(t.Context(), Focus{})
		drifted, leaks = len(cgroupAt(t, r, "/kubepods/burstable/poda").Drift), len(r.Leaks)
	}
	if drifted != 1 || leaks != 1 {
		t.Errorf("after a round: %d differences, %d leaks; want one of each", drifted, leaks)
	}
}

// TestMonitorChanges notices pods that come and go, and the wanted one that is
// gone.
func TestMonitorChanges(t *testing.T) {
	root, m := monitored(t)
	m.Look(t.Context(), Focus{})
	if err := os.RemoveAll(filepath.Join(root, tier+"poda")); err != nil {
		t.Fatal(err)
	}
	write(t, root, map[string]string{tier + "podc/memory.current": "1\n", "var/lib/kubelet/pods/a/x": ""})
	m.Adopt(&Inspection{Root: root, Hierarchy: &Hierarchy{}, Owners: HostOwners(root), Tops: []string{"/kubepods"}, Want: m.inspection.Want, Whole: true})
	if err := os.Mkdir(filepath.Join(root, tier+"podd"), 0o755); err != nil {
		t.Fatal(err)
	}
	r, changed := m.Look(t.Context(), Focus{})
	if !changed {
		t.Error("podd came and was not noticed")
	}
	cgroupAt(t, r, "/kubepods/burstable/podd")
	if c := cgroupAt(t, r, "/kubepods/burstable/podc"); c.Usage.Memory == nil || *c.Usage.Memory != 1 {
		t.Errorf("podc: %+v", c.Usage)
	}
	if a := cgroupAt(t, r, "/kubepods/burstable/poda"); !a.Missing {
		t.Errorf("poda is gone and shown as %+v", a)
	}
}

// TestMonitorBounded ends early, and without the descriptors that it may not
// have it reads all the same.
func TestMonitorBounded(t *testing.T) {
	_, m := monitored(t)
	m.inspection.Hierarchy.Keep(1)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if r, _ := m.Look(ended, Focus{}); len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "stopped after 0 of 4 cgroups") {
		t.Errorf("notes %q", r.Notes)
	}
	r, _ := m.Look(t.Context(), Focus{})
	if b := cgroupAt(t, r, "/kubepods/burstable/podb"); b.Usage.Memory == nil || b.Usage.CPU == nil {
		t.Errorf("podb: %+v", b.Usage)
	}
	if left := m.inspection.Hierarchy.kept.left; left != 0 {
		t.Errorf("%d descriptors are left of one", left)
	}
	m.inspection.Hierarchy.Close()
	if left := m.inspection.Hierarchy.kept.left; left != 1 {
		t.Errorf("%d descriptors are free after closing, want 1", left)
	}
}
