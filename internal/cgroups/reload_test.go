package cgroups

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/cpuset"
	"pgregory.net/rapid"
)

func TestReloaded(t *testing.T) {
	for _, tt := range []struct {
		name       string
		version    int
		properties map[string]string
		want       map[string]string
	}{
		{"nothing told", 2, nil, map[string]string{}},
		{
			"nothing set", 2,
			map[string]string{
				"CPUWeight": "infinity", "CPUQuotaPerSecUSec": "infinity", "CPUQuotaPeriodUSec": "infinity", "MemoryMax": "infinity",
				"MemoryMin": "0", "TasksMax": "infinity", "AllowedCPUs": "",
			},
			map[string]string{"cpu.weight": "100", "cpu.max": "max 100000", "memory.max": "max", "memory.min": "0", "pids.max": "max", "cpuset.cpus": ""},
		},
		{
			"all set", 2,
			map[string]string{
				"CPUWeight": "39", "CPUQuotaPerSecUSec": "1500000", "CPUQuotaPeriodUSec": "50000", "MemoryMax": "4096", "MemoryHigh": "2048",
				"MemoryLow": "infinity", "MemorySwapMax": "0", "TasksMax": "7", "AllowedCPUs": "0c01", "AllowedMemoryNodes": "01",
			},
			map[string]string{
				"cpu.weight": "39", "cpu.max": "75000 50000", "memory.max": "4096", "memory.high": "2048", "memory.low": "max",
				"memory.swap.max": "0", "pids.max": "7", "cpuset.cpus": "2-3,8", "cpuset.mems": "0",
			},
		},
		{
			"v1", 1,
			map[string]string{"CPUShares": "1024", "CPUQuotaPerSecUSec": "500000", "MemoryMax": "infinity", "MemoryLimit": "4096", "TasksMax": "infinity", "AllowedCPUs": "ff"},
			map[string]string{"cpu/cpu.shares": "1024", "cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "100000", "memory/memory.limit_in_bytes": "4096", "pids/pids.max": "max"},
		},
		{"v1 with MemoryMax", 1, map[string]string{"MemoryMax": "4096", "MemoryLimit": "infinity"}, map[string]string{"memory/memory.limit_in_bytes": "4096"}},
		{"v1 with another of v2", 1, map[string]string{"MemoryMax": "infinity", "MemoryHigh": "2048", "MemoryLimit": "4096"}, map[string]string{"memory/memory.limit_in_bytes": "-1"}},
		{"v1 with nothing of v2", 1, map[string]string{"MemoryMax": "infinity", "MemoryLow": "0", "MemoryLimit": "4096"}, map[string]string{"memory/memory.limit_in_bytes": "4096"}},
		{"v1 without a quota", 1, map[string]string{"CPUQuotaPerSecUSec": "infinity"}, map[string]string{"cpu/cpu.cfs_quota_us": "-1"}},
		{"no numbers", 2, map[string]string{"CPUQuotaPerSecUSec": "much", "AllowedCPUs": "zz"}, map[string]string{"cpuset.cpus": ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, Reloaded(tt.version, tt.properties)); d != "" {
				t.Error("-want +got:\n" + d)
			}
		})
	}
}

// TestReloadKeeps holds what kqos says that systemd writes of a unit against what
// it says that the kubelet has systemd keep: the files are those written beside.
func TestReloadKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Settings{
			CPUShares: &Value[uint64]{Is: uint64(rapid.Int64Range(MinShares, maxShares).Draw(t, "shares"))},
			CPUQuota:  &Value[int64]{Is: rapid.SampledFrom([]int64{-1, 1000, 25_000, 150_000, 33_333}).Draw(t, "quota")},
			CPUPeriod: &Value[uint64]{Is: rapid.SampledFrom([]uint64{10_000, 100_000}).Draw(t, "period")},
			Memory:    &Value[int64]{Is: rapid.SampledFrom([]int64{-1, 4096, 1 << 40}).Draw(t, "memory")},
			PidsLimit: &Value[int64]{Is: rapid.SampledFrom([]int64{-1, 1, 4096}).Draw(t, "pids")},
			CPUs:      &Value[cpuset.CPUSet]{Is: cpuset.New(rapid.SliceOfN(rapid.IntRange(0, 600), 1, 9).Draw(t, "cpus")...)},
		}
		for _, version := range []int{1, 2} {
			r := s.Render(Platform{Driver: Systemd, Version: version})
			properties := map[string]string{}
			for _, p := range r.Properties {
				properties[p.Name] = p.Is
			}
			reloaded := Reloaded(version, properties)
			for _, f := range r.Files {
				if text, kept := reloaded[f.Name]; kept && !Equal(f.Name, f.Is, text) {
					t.Errorf("v%d %s: %q is written, and %q at a reload of %v", version, f.Name, f.Is, text, properties)
				}
			}
		}
	})
}

func TestUnitOf(t *testing.T) {
	for path, want := range map[string]string{
		"/kubepods.slice/kubepods-pod1.slice": "kubepods-pod1.slice", "/a/cri-containerd-0.scope": "cri-containerd-0.scope",
		"/system.slice/ssh.service": "ssh.service", "/kubepods/pod1": "", "/": "", "/slice": "", "/a/container": "",
	} {
		if got := UnitOf(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// What a Reloaded file comes from is on the list of what an archive keeps.
func TestReloadedProperties(t *testing.T) {
	all := map[string]string{}
	for _, name := range ReloadedProperties() {
		all[name] = "4096"
	}
	for version, files := range map[int][]string{
		1: {"cpu/cpu.cfs_period_us", "cpu/cpu.cfs_quota_us", "cpu/cpu.shares", "memory/memory.limit_in_bytes", "pids/pids.max"},
		2: {"cpu.max", "cpu.weight", "cpuset.cpus", "cpuset.mems", "memory.high", "memory.low", "memory.max", "memory.min", "memory.swap.max", "pids.max"},
	} {
		if d := cmp.Diff(files, slices.Sorted(maps.Keys(Reloaded(version, all)))); d != "" {
			t.Errorf("v%d (-want +got):\n%s", version, d)
		}
		for _, file := range files {
			if name := PropertyOf(file); !slices.Contains(ReloadedProperties(), name) {
				t.Errorf("%s is kept as %s, which is not listed", file, name)
			}
		}
	}
}
