//go:build handover

package handover

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/cgroups"
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
	t.Run("doctor has no complaint", func(t *testing.T) { r.health(t) })
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
	if changes := r.text(t, "changes.txt"); changes != "" {
		t.Errorf("on the way values changed:\n%s", changes)
	}
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
		Leaks, Intruders []any
		Notes            []string
	}
	r.read(t, name, &found)
	for _, c := range found.Cgroups {
		if c.Level == cgroups.LevelPod && (c.Pod == nil || !strings.HasSuffix(c.Pod.Name, "-testnode")) {
			t.Errorf("%s is the pod %+v", c.Path, c.Pod)
		}
		if c.Level == cgroups.LevelContainer && c.Container == "" {
			t.Errorf("%s has no container's name", c.Path)
		}
		for _, d := range c.Drift {
			t.Errorf("%s: %+v", c.Path, d)
		}
	}
	if len(found.Leaks)+len(found.Intruders)+len(found.Notes) > 0 {
		t.Errorf("leaks: %v, intruders: %v, notes: %q", found.Leaks, found.Intruders, found.Notes)
	}
}

func (r record) health(t *testing.T) {
	var report struct {
		Checks []doctor.Result
		Start  []doctor.Step
	}
	r.ended(t, "doctor.json")
	r.read(t, "doctor.json", &report)
	for _, c := range report.Checks {
		if c.Status == doctor.Fail || c.Status == doctor.Warn {
			t.Errorf("%s: %s: %s %q", c.ID, c.Status, c.Message, c.Evidence)
		}
	}
	r.ended(t, "start.json")
	r.read(t, "start.json", &report)
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
