package inspect

import (
	"testing"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/nodeapi"
)

// TestWriter has each guess that rests on more than the value alone.
func TestWriter(t *testing.T) {
	m, err := machine.ParseSynthetic("synthetic:cores=8,memory=16Gi")
	if err != nil {
		t.Fatal(err)
	}
	const persistent = "/etc/systemd/system.control/p.slice.d/50-MemoryMax.conf"
	given := map[string]map[string]cpuset.CPUSet{"uid": {"c": cpuset.New(2, 3)}}
	unit := func(property, value string, files ...string) *nodeapi.Unit {
		return &nodeapi.Unit{Properties: map[string]string{property: value}, Files: files}
	}
	for _, tt := range []struct {
		name             string
		level            cgroups.Level
		version          int
		file, want, have string
		unit             *nodeapi.Unit
		writer           string
	}{
		{"kubelet, whole memory", cgroups.LevelNode, 2, "memory.max", "8589934592", "17179869184", nil, WriterKubeletCapacity},
		{"kubelet, all CPUs", cgroups.LevelNode, 2, "cpu.weight", "274", "313", nil, WriterKubeletCapacity},
		{"kubelet, all CPUs on v1", cgroups.LevelNode, 1, "cpu/cpu.shares", "7168", "8192", nil, WriterKubeletCapacity},
		{"as much on a pod", cgroups.LevelPod, 2, "memory.max", "8589934592", "17179869184", nil, WriterHand},
		{"kubelet, tier without pods", cgroups.LevelQoS, 2, "cpu.weight", "39", "1", nil, WriterKubeletEmpty},
		{"kubelet, tier without pods on v1", cgroups.LevelQoS, 1, "cpu/cpu.shares", "1024", "2", nil, WriterKubeletEmpty},
		{"kubelet, older pool", cgroups.LevelContainer, 2, "cpuset.cpus", "0-1,4-7", "0-7", nil, WriterKubeletPool},
		{"kubelet, pool for one with own CPUs", cgroups.LevelContainer, 2, "cpuset.cpus", "2-3", "0-1,4-7", nil, WriterKubeletPool},
		{"no pool", cgroups.LevelContainer, 2, "cpuset.cpus", "0-1,4-7", "1,2", nil, WriterHand},
		{"kubelet, held by systemd", cgroups.LevelPod, 2, "memory.max", "4096", "8192", unit("MemoryMax", "8192", "/run/systemd/transient/p.slice.d/50-MemoryMax.conf"), WriterKubeletProperty},
		{"runtime, held by systemd", cgroups.LevelContainer, 2, "memory.max", "4096", "8192", unit("MemoryMax", "8192"), WriterRuntimeProperty},
		{"by hand, with systemctl", cgroups.LevelPod, 2, "memory.max", "4096", "8192", unit("MemoryMax", "8192", persistent), WriterProperty + persistent},
		{"by hand, another property", cgroups.LevelPod, 2, "pids.max", "10", "20", unit("TasksMax", "20", persistent), WriterKubeletProperty},
		{"by hand, into the file", cgroups.LevelPod, 2, "memory.max", "4096", "8192", unit("MemoryMax", "4096"), WriterFile},
		{"by hand, and systemd holds a third", cgroups.LevelPod, 2, "memory.max", "4096", "8192", unit("MemoryMax", "12288"), WriterHand},
		{"reload", cgroups.LevelPod, 2, "memory.max", "4096", "max", unit("MemoryMax", "infinity"), WriterSystemd},
		{"systemd has no such property", cgroups.LevelPod, 2, "hugetlb.2MB.max", "0", "max", unit("MemoryMax", "4096"), WriterNobody},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := &Inspection{Hierarchy: &Hierarchy{version: tt.version}, Want: &cgroups.Tree{Driver: cgroups.Systemd}, Machine: m, Exclusive: given}
			if tt.unit != nil {
				i.units = map[string]nodeapi.Unit{"/p.slice": *tt.unit}
			}
			want := &cgroups.Cgroup{Level: tt.level, Files: map[string]string{tt.file: tt.want}}
			if got := i.writer(want, "/p.slice", tt.file, tt.have); got != tt.writer {
				t.Errorf("%q, want %q", got, tt.writer)
			}
		})
	}
}

// TestSystemdSilent tells why the guess is a poor one.
func TestSystemdSilent(t *testing.T) {
	i := &Inspection{Hierarchy: &Hierarchy{version: 2}, Want: &cgroups.Tree{Driver: cgroups.Systemd}, Systemd: nodeapi.SystemdSockets(t.TempDir())}
	if note := i.askSystemd(t.Context(), []Cgroup{{Path: "/a.slice"}}, i.wants()); note != "" {
		t.Errorf("nothing drifted, and yet: %s", note)
	}
	if note := i.askSystemd(t.Context(), []Cgroup{{Path: "/a.slice", Drift: []Drift{{}}}}, i.wants()); note == "" {
		t.Error("nobody answers, and no word of it")
	}
}
