package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kqos/kqos/internal/cgroups"
)

// 1024 shares make a weight of 39 by the kubelet's conversion and of 100 by that
// of runc since 1.3.2.
func TestDrift(t *testing.T) {
	tests := map[string]struct {
		level                     cgroups.Level
		driver, file, want, have  string
		wantWriter, wantConverted string
	}{
		"as wanted":                       {cgroups.LevelPod, "cgroupfs", "cpu.weight", "39", "39", "", ""},
		"container, curve":                {cgroups.LevelContainer, "cgroupfs", "cpu.weight", "100", "100", "", WriterRuntimeCurve},
		"container, linear":               {cgroups.LevelContainer, "cgroupfs", "cpu.weight", "100", "39", "", WriterRuntimeLinear},
		"container, neither":              {cgroups.LevelContainer, "cgroupfs", "cpu.weight", "100", "40", WriterHand, ""},
		"pod, by a runtime's conversion":  {cgroups.LevelPod, "cgroupfs", "cpu.weight", "39", "100", WriterRuntimeCurve, ""},
		"reload":                          {cgroups.LevelPod, "systemd", "memory.max", "4096", "max", WriterSystemd, ""},
		"never written":                   {cgroups.LevelPod, "cgroupfs", "memory.max", "4096", "max", WriterNobody, ""},
		"systemd knows no huge pages":     {cgroups.LevelPod, "systemd", "hugetlb.2MB.max", "0", "max", WriterNobody, ""},
		"v1 default":                      {cgroups.LevelPod, "systemd", "memory/memory.limit_in_bytes", "4096", "9223372036854771712", WriterSystemd, ""},
		"the runtime left it":             {cgroups.LevelContainer, "systemd", "memory.max", "4096", "max", WriterRuntimeDefault, ""},
		"by hand":                         {cgroups.LevelQoS, "systemd", "cpu.max", "max 100000", "5000 100000", WriterHand, ""},
		"the kernel's own rounding":       {cgroups.LevelPod, "systemd", "memory.max", "5000", "4096", "", ""},
		"a file that the kernel has not":  {cgroups.LevelPod, "systemd", "memory.max", "5000", "", "", ""},
		"read besides, since it's wanted": {cgroups.LevelContainer, "systemd", "memory.oom.group", "1", "0", WriterRuntimeDefault, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			base := "sys/fs/cgroup/"
			if v1, _, ok := cutFile(test.file); ok {
				write(t, root, map[string]string{base + v1 + "/p/x": ""})
				base += v1 + "/"
			} else {
				write(t, root, map[string]string{base + "cgroup.controllers": "", base + "p/x": ""})
			}
			if _, file, _ := cutFile(test.file); test.have != "" {
				write(t, root, map[string]string{base + "p/" + file: test.have + "\n"})
			}
			h, err := Open(root)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			want := &cgroups.Cgroup{Path: "/p", Level: test.level, CPUShares: 1024, Files: map[string]string{test.file: test.want}}
			i := &Inspection{Hierarchy: h, Want: &cgroups.Tree{Driver: test.driver}}
			drift, writers := i.drift(want, "/p", h.files("/p", nil))
			var wantDrift []Drift
			if test.wantWriter != "" {
				wantDrift = []Drift{{File: test.file, Want: test.want, Have: test.have, Writer: test.wantWriter}}
			}
			if d := cmp.Diff(wantDrift, drift); d != "" {
				t.Error("-want +got:\n" + d)
			}
			if writers["cpu.weight"] != test.wantConverted {
				t.Errorf("converted by %q, want %q", writers["cpu.weight"], test.wantConverted)
			}
		})
	}
}

// cutFile takes controller/file apart.
func cutFile(key string) (controller, file string, v1 bool) {
	controller, file = cgroups.SplitFile(key)
	return controller, file, file != key
}
