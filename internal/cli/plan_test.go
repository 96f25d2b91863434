package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kqos/kqos/internal/cgroups"
)

// testPlan runs a command in this process and reads its CgroupPlan.
func testPlan(t *testing.T, args ...string) map[string]cgroups.Cgroup {
	t.Helper()
	byPath := map[string]cgroups.Cgroup{}
	for _, c := range wholePlan(t, args...).Cgroups {
		byPath[c.Path] = c
	}
	return byPath
}

func wholePlan(t *testing.T, args ...string) *cgroupPlan {
	t.Helper()
	var out, messages bytes.Buffer
	sys := System{In: bytes.NewReader(nil), Out: &out, Err: &messages, Getenv: func(string) string { return "" }}
	if code := Main(append(args, "-o", "json"), sys); code != exitDone {
		t.Fatalf("kqos %v: exit code %d\n%s", args, code, &messages)
	}
	var plan cgroupPlan
	if err := json.Unmarshal(out.Bytes(), &plan); err != nil {
		t.Fatalf("kqos %v: %v", args, err)
	}
	return &plan
}

func readJSON(t testing.TB, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func writeJSON(t *testing.T, what any) (file string) {
	t.Helper()
	data, err := json.Marshal(what)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "machine.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// onCase plans the pods of a case of testdata/cases on 4 CPUs with 16Gi.
func onCase(t *testing.T, id string, args ...string) map[string]cgroups.Cgroup {
	t.Helper()
	found, err := filepath.Glob("../../testdata/cases/" + id + "-*")
	if err != nil || len(found) != 1 {
		t.Fatalf("%d folders of case %s (%v)", len(found), id, err)
	}
	all := []string{"apply", "--dry-run", "--containers"}
	if !slices.Contains(args, "--topology") {
		all = append(all, "--topology", "synthetic:cores=4,memory=16Gi")
	}
	for _, a := range args {
		if file := filepath.Join(found[0], a); filepath.Ext(a) == ".yaml" {
			a = file
		}
		all = append(all, a)
	}
	return testPlan(t, all...)
}

// TestPlanOfCases plans what went wrong in the field, and wants the decisive
// files of each case's expected.json. "" wants a file not to be written.
func TestPlanOfCases(t *testing.T) {
	const g, b = "/kubepods/pod11112222-3333-4444-5555-666677778888", "/kubepods/burstable/podaaaabbbb-cccc-dddd-eeee-ffff00001111"
	type files map[string]string
	for _, tt := range []struct {
		id   string
		args []string
		want map[string]files
	}{
		{"B08", []string{"pod.yaml"}, map[string]files{"*": {"cpu.weight": "39", "cpu.max": "200000 100000", "memory.max": "8589934592"}}},
		{"B15", []string{"pod.yaml"}, map[string]files{"*": {"cpu.weight": "1", "cpu.max": "3200 100000"}}},
		{"B16", []string{"pod.yaml", "--config", "kubelet.yaml"}, map[string]files{"*": {"cpu.weight": "6", "cpu.max": "5600 10000", "memory.max": "134217728"}}},
		{"B17", []string{"big.yaml"}, map[string]files{"*": {"cpu.max": "409600 100000"}}},
		{"B17", []string{"small.yaml"}, map[string]files{"*": {"cpu.max": "5100 100000"}}},
		{"B17", []string{"big.yaml", "--driver", "systemd"}, map[string]files{"*": {"cpu.max": "410000 100000"}}},
		{"B17", []string{"small.yaml", "--driver", "systemd"}, map[string]files{"*": {"cpu.max": "6000 100000"}}},
		{"B19", []string{"--config", "kubelet.yaml", "--capacity", "cpu=16,memory=32Gi"}, map[string]files{"/kubepods": {"cpu.weight": "567", "memory.max": "31138512896"}}},
		{"B23", []string{"--config", "kubelet.yaml", "--capacity", "cpu=32,memory=64Gi,hugepages-1Gi=16Gi"}, map[string]files{
			"/kubepods": {"cpu.weight": "1250", "memory.max": "67645734912", "hugetlb.1GB.max": "4611686018427387904"},
		}},
		{"B60", []string{"--config", "kubelet.yaml", "--topology", "synthetic:cores=8,memory=16Gi"}, map[string]files{"/kubepods": {"cpu.weight": "196"}}},
		{"B28", []string{"--config", "hard.yaml", "--driver", "systemd"}, map[string]files{
			"/system.slice": {"cpu.weight": "20", "memory.max": "1073741824", "memory.min": "1073741824", "pids.max": "1000"},
		}},
		{"B28", []string{"--config", "soft.yaml", "--driver", "systemd"}, map[string]files{
			"/system.slice": {"cpu.weight": "20", "memory.max": "", "memory.min": "", "pids.max": ""},
		}},
		{"B29", []string{"g.yaml", "b.yaml", "e.yaml"}, map[string]files{g: {}, b: {}, "/kubepods/besteffort/pod0a1b2c3d4e5f60718293a4b5c6d7e8f9": {}}},
		{"B31", []string{"g.yaml", "b.yaml", "e.yaml", "--config", "kubelet.yaml"}, map[string]files{
			"/kubepods":            {"memory.max": "16106127360"},
			"/kubepods/burstable":  {"memory.max": "15032385536", "cpu.weight": "12"},
			"/kubepods/besteffort": {"memory.max": "14495514624", "cpu.weight": "1"},
		}},
		{"B39", []string{"pod.yaml"}, map[string]files{"*": {"cpu.max": "200000 100000", "cpu.weight": "79", "memory.max": "1073741824"}}},
		{"B55", []string{"--config", "kubelet.yaml"}, map[string]files{"/kubepods": {"cpu.weight": "157", "memory.max": "17179869184"}}},
		{"B56", []string{"b.yaml", "g.yaml", "e.yaml", "--config", "kubelet.yaml"}, map[string]files{
			"/kubepods":            {"memory.low": "1162870784", "memory.min": "2236612608"},
			"/kubepods/burstable":  {"memory.low": "1162870784"},
			"/kubepods/besteffort": {"memory.low": "", "memory.min": ""},
		}},
	} {
		t.Run(tt.id+"/"+tt.args[0], func(t *testing.T) {
			args := tt.args
			if tt.args[len(tt.args)-1] != "systemd" {
				args = append(args, "--driver", "cgroupfs")
			}
			got := onCase(t, tt.id, args...)
			for path, want := range tt.want {
				c, ok := got[path]
				if path == "*" {
					c, ok = onlyPod(got)
				}
				if !ok {
					t.Errorf("%s is not planned", path)
				}
				for file, value := range want {
					if c.Files[file] != value {
						t.Errorf("%s %s is %q, want %q", c.Path, file, c.Files[file], value)
					}
				}
			}
		})
	}
}

func onlyPod(tree map[string]cgroups.Cgroup) (pod cgroups.Cgroup, ok bool) {
	for _, c := range tree {
		if c.Level == cgroups.LevelPod {
			pod, ok = c, !ok
		}
	}
	return pod, ok
}

// TestPlanOfExclusiveCPUs wants the quotas that B39 lists for a container with CPUs
// of its own and for its pod, on both cgroup versions.
func TestPlanOfExclusiveCPUs(t *testing.T) {
	var expected struct {
		AlsoExpect struct {
			Exclusive struct{ ContainerCPUQuota, PodCPUQuota int64 }
		}
	}
	readJSON(t, "../../testdata/cases/B39-exclusive-cpus-no-quota/expected.json", &expected)
	want := map[cgroups.Level]int64{
		cgroups.LevelContainer: expected.AlsoExpect.Exclusive.ContainerCPUQuota, cgroups.LevelPod: expected.AlsoExpect.Exclusive.PodCPUQuota,
	}
	static := writeJSON(t, map[string]any{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "failCgroupV1": false,
		"cpuManagerPolicy": "static", "kubeReserved": map[string]string{"cpu": "1"},
	})
	for version, file := range map[string]string{"1": "cpu/cpu.cfs_quota_us", "2": "cpu.max"} {
		got := map[cgroups.Level]int64{}
		for _, c := range onCase(t, "B39", "pod.yaml", "--config", static, "--cgroup-version", version) {
			if want[c.Level] == 0 {
				continue
			}
			quota, _, _ := strings.Cut(c.Files[file], " ")
			if quota == "max" {
				quota = "-1" // as v2 spells it
			}
			var err error
			if got[c.Level], err = strconv.ParseInt(quota, 10, 64); err != nil {
				t.Errorf("v%s: %s %s: %v", version, c.Path, file, err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("v%s (-want +got):\n%s", version, diff)
		}
	}
}

// TestPlanOfContainers wants the unified files that B53 and B56 list for each
// container.
func TestPlanOfContainers(t *testing.T) {
	for _, tt := range []struct {
		id         string
		containers []string // in the order of expected.json
		args       []string
	}{
		{"B53", []string{"share", "equal", "none", "nolimit"}, []string{"b.yaml", "--config", "kubelet.yaml", "--capacity", "swap=8Gi"}},
		{"B56", []string{"lim", "nolim"}, []string{"b.yaml", "--config", "kubelet.yaml"}},
	} {
		t.Run(tt.id, func(t *testing.T) {
			folder, _ := filepath.Glob("../../testdata/cases/" + tt.id + "-*")
			var expected struct {
				Runs []struct {
					Expect map[string]json.RawMessage
				}
			}
			readJSON(t, filepath.Join(folder[0], "expected.json"), &expected)
			var unified [][]map[string]string // by pod and container
			if err := json.Unmarshal(expected.Runs[0].Expect["pods.*.containers.*.unified"], &unified); err != nil {
				t.Fatal(err)
			}
			got := map[string]map[string]string{}
			for _, c := range onCase(t, tt.id, tt.args...) {
				if c.Level == cgroups.LevelContainer {
					got[c.Container] = c.Files
				}
			}
			for i, want := range unified[0] {
				for file, value := range want {
					if got[tt.containers[i]][file] != value {
						t.Errorf("container %s: %s is %q, want %q", tt.containers[i], file, got[tt.containers[i]][file], value)
					}
				}
			}
		})
	}
}
