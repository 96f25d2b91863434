package pods

import (
	"testing"

	"k8s.io/utils/cpuset"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/oracle/files"
	"github.com/kqos/kqos/conformance/oracle/pod"
	"github.com/kqos/kqos/internal/cgroups"
)

// written is how settings reach the kernel.
type written struct {
	Config    pod.Resources `json:"config"`
	Version   int           `json:"version"`
	Driver    string        `json:"driver"`
	PageSizes []string      `json:"pageSizes"`
}

// settings are the same for kqos.
func (w written) settings(t check.TB) cgroups.Settings {
	c := w.Config
	s := cgroups.Settings{
		Memory: valueOf(c.Memory), CPUShares: valueOf(c.CPUShares), CPUQuota: valueOf(c.CPUQuota), CPUPeriod: valueOf(c.CPUPeriod),
		PidsLimit: valueOf(c.PidsLimit), HugePages: map[int64]cgroups.Value[int64]{}, Unified: map[string]cgroups.Value[string]{},
	}
	if c.CPUSet != "" {
		cpus, err := cpuset.Parse(c.CPUSet)
		if err != nil {
			t.Fatalf("%v", err)
		}
		s.CPUs = valueOf(&cpus)
	}
	for size, limit := range c.HugePageLimit {
		s.HugePages[size] = cgroups.Value[int64]{Is: limit}
	}
	for file, text := range c.Unified {
		s.Unified[file] = cgroups.Value[string]{Is: text}
	}
	return s
}

func valueOf[T any](v *T) *cgroups.Value[T] {
	if v == nil {
		return nil
	}
	return &cgroups.Value[T]{Is: *v}
}

// maybe draws one of the values or none.
func maybe[T any](t *rapid.T, label string, values ...T) *T {
	if rapid.IntRange(0, 2).Draw(t, "no "+label) == 0 {
		return nil
	}
	v := rapid.SampledFrom(values).Draw(t, label)
	return &v
}

func drawWritten(t *rapid.T) written {
	w := written{
		Version:   rapid.IntRange(1, 2).Draw(t, "version"),
		Driver:    rapid.SampledFrom([]string{"cgroupfs", "systemd"}).Draw(t, "driver"),
		PageSizes: rapid.SampledFrom([][]string{nil, {"2MB", "1GB"}, {"64KB", "2MB", "32MB", "1GB"}}).Draw(t, "page sizes"),
	}
	quota := rapid.OneOf(rapid.SampledFrom([]int64{-1, 0, 1000, 1001, 100000, 123456}), rapid.Int64Range(1000, 1<<40)).Draw(t, "any quota")
	w.Config = pod.Resources{
		Memory:    maybe(t, "memory", int64(-1), 0, 1, 4095, 4096, 1<<30+1, 1<<62),
		CPUShares: maybe(t, "shares", uint64(2), 3, 10, 102, 1024, 1025, 262143, 262144, rapid.Uint64Range(2, 262144).Draw(t, "any shares")),
		CPUQuota:  maybe(t, "quota", quota),
		CPUPeriod: maybe(t, "period", uint64(100000), 1000, 1000000, 12345, 10001),
		PidsLimit: maybe(t, "pids", int64(-1), 0, 1, 100, 1<<40),
	}
	if p := w.Config.PidsLimit; p != nil && *p == 0 && check.Minor(t) < 36 {
		w.Config.PidsLimit = nil // what the library then took for no limit
	}
	w.Config.CPUSet = ptr.Deref(maybe(t, "CPUs", "0", "0-2,9", "63-64,1023"), "")
	for _, size := range []int64{2 << 20, 1 << 30, 64 << 10, 3 << 20, 1500, 0} {
		if limit := maybe(t, "pages", int64(0), 2<<20, 1<<62, 12345); limit != nil && rapid.Bool().Draw(t, "size") {
			if w.Config.HugePageLimit == nil {
				w.Config.HugePageLimit = map[int64]int64{}
			}
			w.Config.HugePageLimit[size] = *limit
		}
	}
	for _, file := range []string{"memory.min", "memory.low", "memory.high"} {
		if text := maybe(t, file, "0", "1", "1073741824", "9223372036854775807"); text != nil {
			if w.Config.Unified == nil {
				w.Config.Unified = map[string]string{}
			}
			w.Config.Unified[file] = *text
		}
	}
	return w
}

func TestWritten(t *testing.T) {
	dir := t.TempDir()
	check.Property(t, 1000, func(t *rapid.T) {
		in := drawWritten(t)
		folder, remove := check.Dir(t, dir)
		defer remove()
		want, err := files.WriteSettings(in.Config, in.Version, in.Driver, in.PageSizes, folder)
		if err != nil {
			t.Fatal(err)
		}
		r := in.settings(t).Render(cgroups.Platform{Driver: in.Driver, Version: in.Version, PageSizes: in.PageSizes})
		got := files.Written{Files: controls(r.Files), Properties: controls(r.Properties)}
		check.Equal(t, in, want, got)
	})
}

func controls(list []cgroups.Control) map[string]string {
	out := map[string]string{}
	for _, c := range list {
		out[c.Name] = c.Is
	}
	return out
}
