//go:build handover

package handover

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/cgroups/driver"
	"github.com/kqos/kqos/internal/inspect"
	"github.com/kqos/kqos/internal/inspect/doctor"
)

// judge looks at what a node recorded.
func judge(t *testing.T, n node, out string) {
	r := record{out}
	if n.kqosFirst {
		t.Run("the kubelet changes no value that kqos set", func(t *testing.T) { r.keepsValues(t) })
	}
	for _, name := range []string{"diff", "diff-pods", "apply-live", "apply-stopped", "diff-again"} {
		t.Run(name+" finds nothing", func(t *testing.T) { r.planIsEmpty(t, name+".json") })
	}
	t.Run("no container restarts", func(t *testing.T) { r.restartsNothing(t) })
	t.Run("a new start of the kubelet changes no value", func(t *testing.T) {
		if diff := cmp.Diff(r.values(t, "after.txt"), r.values(t, "again.txt")); diff != "" {
			t.Error(diff)
		}
	})
	for _, name := range []string{"inspect.json", "inspect-again.json"} {
		t.Run(name+" names all pods and finds no drift", func(t *testing.T) { r.inspection(t, name) })
	}
	t.Run("doctor has no complaint", func(t *testing.T) { r.health(t, n) })
	t.Run("allocatable is the Node's", func(t *testing.T) { r.node(t) })
	t.Run("simulate writes the kubelet's checkpoint files", func(t *testing.T) { r.checkpoints(t) })
}

// record is a folder of what a node recorded.
type record struct{ folder string }

func (r record) text(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (r record) read(t *testing.T, name string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.text(t, name)), into); err != nil {
		t.Fatalf("%s: %v: %s", name, err, r.text(t, name+".err"))
	}
}

// ended fails the test unless the command that wrote this ended with code 0.
func (r record) ended(t *testing.T, name string) {
	t.Helper()
	if code := strings.TrimSpace(r.text(t, name+".code")); code != "0" {
		t.Errorf("%s ended with %s: %s", name, code, r.text(t, name+".err"))
	}
}

// values are the control files by path.
func (r record) values(t *testing.T, name string) map[string]string {
	t.Helper()
	values := map[string]string{}
	for line := range strings.Lines(r.text(t, name)) {
		file, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		values[file] = value
	}
	if len(values) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return values
}

func (r record) keepsValues(t *testing.T) {
	r.ended(t, "apply.json")
	after := r.values(t, "after.txt")
	for file, value := range r.values(t, "before.txt") {
		if now, ok := after[file]; !ok || now != value {
			t.Errorf("%s was %q and is %q", file, value, now)
		}
	}
	for line := range strings.Lines(r.text(t, "changes.txt")) {
		if !passing(line) {
			t.Errorf("on the way a value changed: %s", line)
		}
	}
}

// passing tells whether the kubelet itself takes a value away and sets it again
// whenever it starts, whoever made the tree: it enforces what is allocatable
// before its loop over the QoS classes lifts huge pages again, and sums the
// requests of the pods that it knows so far. systemd withdraws the cpuset
// controller for a moment where no unit below asks for it.
func passing(change string) bool {
	file, values, _ := strings.Cut(change, "\t")
	kubepods, name := path.Base(path.Dir(file)), path.Base(file)
	switch {
	case strings.HasPrefix(name, "hugetlb."):
		return kubepods == "kubepods" || kubepods == "kubepods.slice"
	case name == "cpu.weight" || name == "cpu.shares":
		return kubepods == "burstable" || kubepods == "kubepods-burstable.slice"
	case strings.HasPrefix(name, "cpuset."):
		return strings.TrimSpace(strings.Replace(values, "(gone)", "", 1)) == ""
	}
	return false
}

func (r record) planIsEmpty(t *testing.T, name string) {
	r.ended(t, name)
	var plan struct {
		Changes  []cgroups.Change
		Withheld []any
		Notes    []string
	}
	r.read(t, name, &plan)
	for _, c := range plan.Changes {
		t.Errorf("%+v", c)
	}
	if len(plan.Withheld)+len(plan.Notes) > 0 {
		t.Errorf("withheld: %v, notes: %q", plan.Withheld, plan.Notes)
	}
}

// restartsNothing compares the containers before and after the second start of
// the kubelet.
func (r record) restartsNothing(t *testing.T) {
	first, second := r.containers(t, "pods.json"), r.containers(t, "pods-again.json")
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
}

func (r record) runningContainers(t *testing.T) int {
	t.Helper()
	var pods corev1.PodList
	r.read(t, "pods.json", &pods)
	running := 0
	for _, pod := range pods.Items {
		for _, c := range append(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses...) {
			if c.State.Running != nil {
				running++
			}
		}
	}
	return running
}

// containers are the ids by pod and name.
func (r record) containers(t *testing.T, name string) map[string]string {
	t.Helper()
	var pods corev1.PodList
	r.read(t, name, &pods)
	ids := map[string]string{}
	for _, pod := range pods.Items {
		if pod.Status.Phase != corev1.PodRunning {
			t.Errorf("%s: %s is %s: %s", name, pod.Name, pod.Status.Phase, pod.Status.Message)
		}
		for _, c := range append(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses...) {
			ids[pod.Name+"/"+c.Name] = c.ContainerID
			if c.RestartCount != 0 {
				t.Errorf("%s: %s/%s was restarted %d times", name, pod.Name, c.Name, c.RestartCount)
			}
		}
	}
	return ids
}

func (r record) inspection(t *testing.T, name string) {
	r.ended(t, name)
	var found struct {
		Cgroups []struct {
			Path      string
			Level     cgroups.Level
			Pod       *cgroups.PodRef
			Container string
			Drift     []inspect.Drift
		}
		Leaks []any
		Notes []string
	}
	r.read(t, name, &found)
	containers := 0
	for _, c := range found.Cgroups {
		if c.Level == cgroups.LevelPod && (c.Pod == nil || !strings.HasSuffix(c.Pod.Name, "-testnode")) {
			t.Errorf("%s is the pod %+v", c.Path, c.Pod)
		}
		if c.Level == cgroups.LevelContainer && c.Container != "" {
			containers++
		}
		for _, d := range c.Drift {
			t.Errorf("%s: %+v", c.Path, d)
		}
	}
	// The others are the sandboxes of pods.
	if want := r.runningContainers(t); containers != want {
		t.Errorf("%d containers have a name, and %d run", containers, want)
	}
	if len(found.Leaks)+len(found.Notes) > 0 {
		t.Errorf("leaks: %v, notes: %q", found.Leaks, found.Notes)
	}
}

func (r record) health(t *testing.T, n node) {
	var report struct {
		Checks []doctor.Result
		Start  []doctor.Step
	}
	r.ended(t, "doctor.json")
	r.read(t, "doctor.json", &report)
	if len(report.Checks) == 0 {
		t.Error("doctor told no check")
	}
	for _, c := range report.Checks {
		// An emulated machine is slow enough to be held back; the cgroupfs driver
		// beside systemd, and cgroup v1, are what some of the nodes are about.
		expected := c.ID == "throttling" || n.driver == driver.Cgroupfs && c.ID == "daemon-reload" ||
			n.v1 && (c.ID == "cgroup-version" || c.ID == "psi")
		if !expected && (c.Status == doctor.Fail || c.Status == doctor.Warn) {
			t.Errorf("%s: %s: %s %q", c.ID, c.Status, c.Message, c.Evidence)
		}
	}
	r.ended(t, "start.json")
	r.read(t, "start.json", &report)
	if len(report.Start) == 0 {
		t.Error("doctor told no step of the start")
	}
	for _, s := range report.Start {
		if s.Status == doctor.Fail || s.Status == doctor.Warn {
			t.Errorf("start: %s: %s: %s", s.Name, s.Status, s.Message)
		}
	}
}

// node compares with the Node that the kubelet posts.
func (r record) node(t *testing.T) {
	r.ended(t, "allocatable.json")
	var node corev1.Node
	var told struct{ Capacity, Allocatable corev1.ResourceList }
	r.read(t, "node.json", &node)
	r.read(t, "allocatable.json", &told)
	// The kubelet keeps a capacity of process ids and does not post it.
	delete(told.Capacity, "pid")
	delete(told.Allocatable, "pid")
	equal := cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
	if diff := cmp.Diff(node.Status.Capacity, told.Capacity, equal); diff != "" {
		t.Errorf("capacity (-the kubelet's +kqos's): %s", diff)
	}
	if diff := cmp.Diff(node.Status.Allocatable, told.Allocatable, equal); diff != "" {
		t.Errorf("allocatable (-the kubelet's +kqos's): %s", diff)
	}
}

// checkpoints compares what the managers wrote. The checksum of the memory
// manager's goes by the order of a map.
func (r record) checkpoints(t *testing.T) {
	r.ended(t, "simulate.json")
	for _, file := range []string{"cpu_manager_state", "memory_manager_state"} {
		var kubelets, simulated map[string]any
		r.read(t, filepath.Join("checkpoints", file), &kubelets)
		r.read(t, filepath.Join("simulated", file), &simulated)
		delete(kubelets, "checksum")
		delete(simulated, "checksum")
		if diff := cmp.Diff(kubelets, simulated); diff != "" {
			t.Errorf("%s (-the kubelet's +kqos's): %s", file, diff)
		}
	}
}
