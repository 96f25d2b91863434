package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
)

// fieldCase is one folder of testdata/cases, as far as classify answers it.
type fieldCase struct {
	Runs []struct {
		Input struct {
			Pods            []string
			Config, Machine string
			Static          bool
		}
		Expect map[string]json.RawMessage
	}
}

// TestClassifyCases answers the cases from the field: whatever they expect of
// pods.N and classify tells is compared.
func TestClassifyCases(t *testing.T) {
	files, err := filepath.Glob("../../testdata/cases/*/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c fieldCase
		if json.Unmarshal(data, &c) != nil {
			continue // the input of another area has another shape
		}
		dir := filepath.Dir(file)
		for _, run := range c.Runs {
			if len(run.Input.Pods) == 0 {
				continue
			}
			args := []string{"classify", "-o", "json", "--topology", "synthetic:cores=4,memory=" + caseMemory(t, dir, run.Input.Machine)}
			if run.Input.Static {
				args = append(args, "--static")
			}
			if run.Input.Config != "" {
				args = append(args, "--config", filepath.Join(dir, run.Input.Config))
			}
			for _, pod := range run.Input.Pods {
				args = append(args, filepath.Join(dir, pod))
			}
			compared += compareCase(t, filepath.Base(dir), classifyJSON(t, args), run.Expect)
		}
	}
	// As many values as the cases hold today: a case that is no longer compared
	// must not go unnoticed.
	if compared < 42 {
		t.Errorf("only %d values were compared", compared)
	}
}

// caseMemory is the memory of the case's machine in bytes; without one a case
// means 16Gi.
func caseMemory(t *testing.T, dir, machine string) string {
	t.Helper()
	if machine == "" {
		return "16Gi"
	}
	data, err := os.ReadFile(filepath.Join(dir, machine))
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Memory resource.Quantity
		Nodes  []struct{ Memory resource.Quantity }
	}
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	if m.Memory.IsZero() {
		for _, n := range m.Nodes {
			m.Memory.Add(n.Memory)
		}
	}
	return m.Memory.String()
}

func classifyJSON(t *testing.T, args []string) *podClassificationList {
	t.Helper()
	var out, errs bytes.Buffer
	sys := System{In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(string) string { return "" }}
	if code := Main(args, sys); code != exitDone {
		t.Fatalf("kqos %s: exit code %d: %s", strings.Join(args, " "), code, errs.String())
	}
	list := &podClassificationList{}
	if err := json.Unmarshal(out.Bytes(), list); err != nil {
		t.Fatal(err)
	}
	return list
}

// compareCase returns the number of values compared. Keys are dotted paths,
// where * stands for every element in order.
func compareCase(t *testing.T, name string, got *podClassificationList, expect map[string]json.RawMessage) (compared int) {
	for key, want := range expect {
		path := strings.Split(key, ".")
		if path[0] != "pods" {
			continue
		}
		for i := range got.Items {
			each := want
			if path[1] == "*" {
				each = element(t, want, i)
			} else if path[1] != strconv.Itoa(i) {
				continue
			}
			value, ok := caseValue(&got.Items[i], path[2:])
			if !ok {
				continue
			}
			compared++
			if diff := cmp.Diff(plain(t, each), plain(t, mustJSON(t, value))); diff != "" {
				t.Errorf("%s: %s of pod %d (-want +got):\n%s", name, key, i, diff)
			}
		}
	}
	return compared
}

func element(t *testing.T, list json.RawMessage, i int) json.RawMessage {
	t.Helper()
	var all []json.RawMessage
	if err := json.Unmarshal(list, &all); err != nil {
		t.Fatal(err)
	}
	return all[i]
}

func plain(t *testing.T, text json.RawMessage) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func mustJSON(t *testing.T, v any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// caseValue finds what the case asks for in kqos's own words.
func caseValue(p *podClassification, path []string) (any, bool) {
	// The reference program names a pod without uid after its name.
	hasUID := !strings.Contains(strings.Join(p.Warnings, "\n"), "no metadata.uid")
	switch path[0] {
	case "qosClass":
		return p.QOSClass, true
	case "requests":
		return p.Requests, true
	case "limits":
		return p.Limits, true
	case "cgroupfsPath":
		return p.Cgroup.Cgroupfs.Path, hasUID
	case "systemdPath":
		return p.Cgroup.Systemd.Path, hasUID
	case "cgroup":
		if len(path) == 1 {
			return caseCgroup(p), true
		}
		value, ok := caseCgroup(p)[path[1]]
		return value, ok
	case "containers":
		if path[len(path)-1] != "oomScoreAdj" {
			return nil, false
		}
		if path[1] == "*" {
			var all []int64
			for i := range p.Containers {
				all = append(all, *p.Containers[i].OOMScoreAdj)
			}
			return all, true
		}
		i, err := strconv.Atoi(path[1])
		return p.Containers[i].OOMScoreAdj, err == nil
	}
	return nil, false
}

// caseCgroup is the kubelet's ResourceConfig read back from the files.
func caseCgroup(p *podClassification) map[string]any {
	v1, v2 := p.Cgroup.Cgroupfs.V1, p.Cgroup.Cgroupfs.V2
	out := map[string]any{}
	for name, text := range map[string]string{
		"cpuShares": v1["cpu/cpu.shares"], "cpuQuota": v1["cpu/cpu.cfs_quota_us"], "cpuPeriod": v1["cpu/cpu.cfs_period_us"],
		"memory": v1["memory/memory.limit_in_bytes"], "cpuWeight": v2["cpu.weight"],
	} {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			out[name] = n
		}
	}
	unified := map[string]string{}
	for _, name := range []string{"memory.min", "memory.low", "memory.high"} {
		if text, ok := v2[name]; ok {
			unified[name] = text
		}
	}
	if len(unified) > 0 {
		out["unified"] = unified
	}
	return out
}
