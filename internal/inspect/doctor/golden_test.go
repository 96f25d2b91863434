package doctor

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
)

// recorded is the tree of a host as testdata/golden/kubelet-trees holds it.
type recorded struct {
	Version     json.Number                             `json:"version"`
	Cgroups     map[string]map[string]string            `json:"cgroups"`
	Hierarchies map[string]map[string]map[string]string `json:"hierarchies"`
}

// hostOf writes a recorded host as files.
func hostOf(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var tree recorded
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	put := func(below string, cgroups map[string]map[string]string) {
		for at, files := range cgroups {
			folder := filepath.Join(root, "sys/fs/cgroup", below, at)
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range files {
				if !slices.Contains([]string{"cgroup.controllers", "cgroup.subtree_control", "memory.high"}, name) {
					continue // thousands of files that no check asks for
				}
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	put("", tree.Cgroups)
	for hierarchy, cgroups := range tree.Hierarchies {
		put(hierarchy, cgroups)
	}
	return root
}

// factsOf are those of a recorded run of the real kubelet, before its start
// (tree-before.json) or at its end (tree.json).
func factsOf(t *testing.T, name, tree string) *Facts {
	t.Helper()
	dir := filepath.Join("../../../testdata/golden/kubelet-trees", name)
	config, err := kubelet.Load(kubelet.LoadOptions{File: filepath.Join(dir, "config.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.ParseSynthetic("synthetic:sockets=2,numa=2,cores=4,threads=2,memory=4Gi")
	if err != nil {
		t.Fatal(err)
	}
	root := hostOf(t, filepath.Join(dir, tree))
	version := 2
	if _, err := os.Stat(filepath.Join(root, "sys/fs/cgroup/cgroup.controllers")); err != nil {
		version = 1
	}
	f, err := Read(context.Background(), Options{
		Root: root, Config: config, Driver: config.CgroupDriver, CgroupVersion: version,
		Machine: m, Node: allocatable.NewNode(m, nil, version),
	})
	if err != nil {
		t.Fatal(err)
	}
	if f.Cgroups == nil {
		t.Fatal("the recorded tree was not read")
	}
	return f
}

// TestForetellsStart holds the walk against what the real kubelet logged.
func TestForetellsStart(t *testing.T) {
	for _, tt := range []struct {
		run, stops, words, check string
	}{
		{
			"cgrouproot-missing-cgroupfs", "cgroup-root",
			`invalid configuration: could not read controllers for cgroup ["mykube"]: open /sys/fs/cgroup/mykube/cgroup.controllers: no such file or directory`, "cgroup-root",
		},
		{
			"cgrouproot-missing-systemd", "cgroup-root",
			`invalid configuration: could not read controllers for cgroup ["mykube"]: open /sys/fs/cgroup/mykube.slice/cgroup.controllers: no such file or directory`, "cgroup-root",
		},
		{
			"reserved-noslice-systemd", "reserved-cgroups",
			`Failed to enforce Kube Reserved Cgroup Limits on "/kubelet.slice": could not read controllers for cgroup ["kubelet"]: open /sys/fs/cgroup/kubelet.slice/cgroup.controllers: no such file or directory`, "reserved-cgroups",
		},
		{
			"reserved-noslice-cgroupfs", "reserved-cgroups",
			`Failed to enforce Kube Reserved Cgroup Limits on "/kubelet.slice": could not read controllers for cgroup ["kubelet.slice"]: open /sys/fs/cgroup/kubelet.slice/cgroup.controllers: no such file or directory`, "reserved-cgroups",
		},
		{
			"v1-failcgroupv1-systemd", "validate",
			"failed to validate kubelet configuration, error: kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be removed in a future release", "cgroup-version",
		},
	} {
		t.Run(tt.run, func(t *testing.T) {
			f := factsOf(t, tt.run, "tree-before.json")
			steps := Start(f)
			last := steps[len(steps)-1]
			if last.Status != Fail || last.Name != tt.stops || last.Message != tt.words {
				t.Errorf("stops at %s (%s) with\n%s\nthe kubelet says\n%s", last.Name, last.Status, last.Message, tt.words)
			}
			if last.Fix == "" {
				t.Error("no way out is told")
			}
			for _, r := range Run(f, Checks()) {
				if wants := r.ID == tt.check; wants != (r.Status == Fail) {
					t.Errorf("%s: %s: %s", r.ID, r.Status, r.Message)
				}
				if r.ID == tt.check && !strings.Contains(tt.words, r.Message) {
					t.Errorf("%s: %q is not in the kubelet's words", r.ID, r.Message)
				}
			}
		})
	}
}

// TestGoodStarts lets the kubelet start again on nodes on which the real one ran.
func TestGoodStarts(t *testing.T) {
	dirs, err := os.ReadDir("../../../testdata/golden/kubelet-trees")
	if err != nil {
		t.Fatal(err)
	}
	failing := []string{
		"cgrouproot-missing-cgroupfs", "cgrouproot-missing-systemd", "reserved-noslice-systemd",
		"reserved-noslice-cgroupfs", "v1-failcgroupv1-systemd",
	}
	seen := 0
	for _, d := range dirs {
		notes, err := os.ReadFile(filepath.Join("../../../testdata/golden/kubelet-trees", d.Name(), "notes.md"))
		if !d.IsDir() || slices.Contains(failing, d.Name()) || err != nil {
			continue
		}
		if !strings.Contains(string(notes), "running at the end: yes") {
			continue
		}
		seen++
		t.Run(d.Name(), func(t *testing.T) {
			steps := Start(factsOf(t, d.Name(), "tree.json"))
			if why, stopped := Stopped(steps); stopped {
				t.Error(why)
			}
		})
	}
	if seen < 10 {
		t.Errorf("only %d recorded runs were seen", seen)
	}
}
