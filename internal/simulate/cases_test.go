package simulate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kqos/kqos/internal/admission"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
)

// caseRun is one run of a case from the field that concerns placement.
type caseRun struct {
	Input struct {
		Config, Machine, CPUState string
		Pods                      []string
		Devices                   map[string][]struct {
			ID   string
			NUMA []int
		}
	}
	Expect map[string]json.RawMessage
}

// casePlacement are the decisive values of a run.
type casePlacement struct {
	Admission            []caseAdmission
	AllocatableCPUs      *string
	DefaultCPUSet        *string
	StartupDefaultCPUSet *string
}

type caseAdmission struct {
	Pod             string
	Admit           bool
	Reason, Message string
	Containers      map[string]caseContainer
}

type caseContainer struct {
	ExclusiveCPUs string   `json:"exclusiveCPUs"`
	Memory        []string `json:"memory"`
	GPUs          []string `json:"example.com/gpu"`
}

// TestCases plays the cases from the field in which a pod was placed, or a
// kubelet did not start.
func TestCases(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("../../testdata/cases/B*")
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, folder := range folders {
		var file struct{ Runs []caseRun }
		blob, err := os.ReadFile(filepath.Join(folder, "expected.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(blob, &file); err != nil {
			t.Fatal(err)
		}
		for i, run := range file.Runs {
			if !run.concernsPlacement() {
				continue
			}
			played++
			t.Run(fmt.Sprintf("%s/%d", filepath.Base(folder), i), func(t *testing.T) {
				t.Parallel()
				run.play(t, folder)
			})
		}
	}
	if played < 20 {
		t.Errorf("only %d runs of cases concern placement", played)
	}
}

func (r *caseRun) concernsPlacement() bool {
	_, startup := r.Expect["startup"]
	return startup && r.Input.Machine != "" || slices.ContainsFunc(keys(r.Expect), func(k string) bool { return strings.HasPrefix(k, "placement") })
}

func keys(m map[string]json.RawMessage) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	return all
}

func (r *caseRun) play(t *testing.T, folder string) {
	config, err := kubelet.Load(kubelet.LoadOptions{File: filepath.Join(folder, r.Input.Config)})
	if err != nil {
		t.Fatal(err)
	}
	files := Files{}
	if r.Input.CPUState != "" {
		files[kubelet.CPUManagerStateFile] = read(t, filepath.Join(folder, r.Input.CPUState))
	}
	n, err := NewNode(Spec{Config: config, Machine: r.machine(t, folder), Dir: "<kubelet root>"}, files)
	if want, ok := r.Expect["startup"]; ok {
		checkStartup(t, want, err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	want := r.placement(t)
	start := n.State().Default
	var got casePlacement
	for _, name := range r.Input.Pods {
		pod := &corev1.Pod{}
		if err := yaml.UnmarshalStrict([]byte(read(t, filepath.Join(folder, name))), pod); err != nil {
			t.Fatal(err)
		}
		pod.UID = types.UID(pod.Name)
		admission.Default(pod, config.Gates)
		// The cases tell the shared pool before what a refused pod's first
		// containers got is taken back, so the node collects only here.
		n.collect()
		a := n.admit(pod)
		if a.Verdict.Admitted {
			n.run(pod)
		}
		got.Admission = append(got.Admission, admissionOf(a))
	}
	if diff := cmp.Diff(want.Admission, got.Admission, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("admission (-want +got):\n%s", diff)
	}
	for what, pair := range map[string][2]*string{
		"allocatableCPUs":      {want.AllocatableCPUs, new(n.Allocatable().String())},
		"defaultCPUSet":        {want.DefaultCPUSet, new(n.State().Default)},
		"startupDefaultCPUSet": {want.StartupDefaultCPUSet, &start},
	} {
		if pair[0] != nil && *pair[0] != *pair[1] {
			t.Errorf("%s: got %q, want %q", what, *pair[1], *pair[0])
		}
	}
}

// checkStartup compares without the words that the container manager puts in
// front.
func checkStartup(t *testing.T, raw json.RawMessage, err error) {
	t.Helper()
	var want string
	if jsonErr := json.Unmarshal(raw, &want); jsonErr != nil {
		t.Fatal(jsonErr)
	}
	if err == nil || want != err.Error() && !strings.HasSuffix(want, ": "+err.Error()) {
		t.Errorf("start: got error %v, want %q", err, want)
	}
}

// placement joins the dotted and the nested form of the expectation.
func (r *caseRun) placement(t *testing.T) casePlacement {
	t.Helper()
	nested := map[string]json.RawMessage{}
	for key, value := range r.Expect {
		if inner, ok := strings.CutPrefix(key, "placement."); ok {
			nested[inner] = value
		}
	}
	raw := r.Expect["placement"]
	if raw == nil {
		raw, _ = json.Marshal(nested)
	}
	var p casePlacement
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func admissionOf(a Admission) caseAdmission {
	got := caseAdmission{Pod: a.Pod.Name, Admit: a.Verdict.Admitted, Reason: a.Verdict.Reason, Message: a.Verdict.Message}
	for _, c := range a.Containers {
		one := caseContainer{GPUs: c.Devices["example.com/gpu"]}
		if c.Exclusive {
			one.ExclusiveCPUs = c.CPUs
		}
		for _, m := range c.Memory {
			one.Memory = append(one.Memory, fmt.Sprintf("%s:%v:%d", m.Type, m.NUMA, m.Size))
		}
		if one.ExclusiveCPUs == "" && one.Memory == nil && one.GPUs == nil {
			continue
		}
		if got.Containers == nil {
			got.Containers = map[string]caseContainer{}
		}
		got.Containers[c.Name] = one
	}
	return got
}

// machine reads the cases' own form of a machine.
func (r *caseRun) machine(t *testing.T, folder string) *machine.Machine {
	t.Helper()
	var file struct {
		Nodes []struct {
			ID, Socket  int
			Memory      string
			HugePages   map[string]int64
			Cores       [][]int
			CoreSockets []int
			CoreUncore  []int
			Distances   []int
		}
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(folder, r.Input.Machine))), &file); err != nil {
		t.Fatal(err)
	}
	m := &machine.Machine{}
	for _, n := range file.Nodes {
		memory := resource.MustParse(n.Memory)
		m.Memory += memory.Value()
		node := machine.Node{ID: n.ID, Memory: memory.Value(), Distances: n.Distances, HugePages: map[string]int64{}}
		for kib, count := range n.HugePages {
			node.HugePages[kib+"Ki"] = count
		}
		m.NUMA = append(m.NUMA, node)
		for core, ids := range n.Cores {
			for _, id := range ids {
				cpu := machine.CPU{ID: id, Core: core, Socket: n.Socket, NUMA: n.ID, LLC: n.Socket, Online: true}
				if n.CoreSockets != nil {
					cpu.Socket = n.CoreSockets[core]
				}
				if n.CoreUncore != nil {
					cpu.Uncore = &n.CoreUncore[core]
				}
				m.CPUs = append(m.CPUs, cpu)
			}
		}
	}
	for name, devices := range r.Input.Devices {
		for _, d := range devices {
			m.Devices = append(m.Devices, machine.Device{Resource: name, ID: d.ID, NUMA: d.NUMA, Healthy: true})
		}
	}
	return m
}

func read(t *testing.T, path string) string {
	t.Helper()
	blob, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(blob)
}
