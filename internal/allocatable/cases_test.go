package allocatable_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
)

const casesDir = "../../testdata/cases"

// fieldRun is one run of a case from the field, see testdata/cases/README.md.
type fieldRun struct {
	Input struct {
		Config, ConfigDir, Machine string
		CgroupVersion              int
	}
	Expect map[string]json.RawMessage
}

// ours are the expected values that this package answers for.
func ours(key string) bool {
	switch key {
	case "startup", "validate", "reservedSystemCPUs":
		return true
	}
	return strings.HasPrefix(key, "node.")
}

// TestCases runs what the cases expect of allocatable. What they expect of
// pods, tiers and placement other packages test.
func TestCases(t *testing.T) {
	// What the kubelet's start says of checkpoint files and topology needs the
	// managers.
	elsewhere := []string{"B35", "B36", "B45"}
	seen := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(casesDir, "*/expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		id, _, _ := strings.Cut(filepath.Base(dir), "-")
		if slices.Contains(elsewhere, id) {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var expected struct{ Runs []fieldRun }
		if err := json.Unmarshal(data, &expected); err != nil {
			t.Fatal(err)
		}
		for _, run := range expected.Runs {
			for key, want := range run.Expect {
				if !ours(key) {
					continue
				}
				seen[id] = true
				t.Run(filepath.Base(dir)+"/"+run.Input.Config+"/"+key, func(t *testing.T) { run.check(t, dir, key, want) })
			}
		}
	}
	for _, id := range []string{"B19", "B21", "B22", "B23", "B25", "B26", "B28", "B31", "B49", "B55", "B58", "B60"} {
		if !seen[id] {
			t.Errorf("case %s expects nothing of allocatable: the test does not see it", id)
		}
	}
}

func (r *fieldRun) check(t *testing.T, dir, key string, want json.RawMessage) {
	t.Helper()
	o := kubelet.LoadOptions{File: filepath.Join(dir, r.Input.Config)}
	if r.Input.ConfigDir != "" {
		o.Dir = filepath.Join(dir, r.Input.ConfigDir)
	}
	c, err := kubelet.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	n := caseNode(t, dir, r.Input.Machine)
	n.CgroupVersion = cmp.Or(r.Input.CgroupVersion, 2)
	result, _ := allocatable.Compute(c, n)
	_, part, _ := strings.Cut(key, ".")
	what, name, single := strings.Cut(part, ".")
	if single {
		want = json.RawMessage(`{"` + name + `":` + string(want) + `}`)
	}
	switch {
	case key == "startup", key == "validate", part == "validateNodeAllocatable":
		var message string
		if err := json.Unmarshal(want, &message); err != nil {
			t.Fatal(err)
		}
		if !told(allocatable.CheckOn(c, n), message) {
			t.Errorf("not told: %s", message)
		}
	case key == "reservedSystemCPUs":
		var cpus string
		if err := json.Unmarshal(want, &cpus); err != nil {
			t.Fatal(err)
		}
		if got := result.Reservations.CPUs.String(); got != cpus {
			t.Errorf("reserved CPUs %q, want %q", got, cpus)
		}
	case what == "allocatable":
		checkAmounts(t, result.Allocatable, want)
	case what == "capacity":
		checkAmounts(t, result.Capacity, want)
	case what == "reservation":
		kept := corev1.ResourceList{}
		for name := range result.Capacity {
			q := result.Reservations.Of(name)
			q.Add(result.Eviction[name])
			kept[name] = q
		}
		checkAmounts(t, kept, want)
	case what == "kubepodsCgroup":
		checkLimits(t, result.Enforced, allocatable.GroupKubepods, want)
	case strings.HasPrefix(what, "systemReserved"):
		checkLimits(t, result.Enforced, allocatable.GroupSystemReserved, want)
	default:
		t.Errorf("%s is not tested", key)
	}
}

// told wants the message without the words of the manager that the reference
// program puts before it.
func told(findings []kubelet.Finding, message string) bool {
	if _, rest, ok := strings.Cut(message, "manager: "); ok {
		message = rest
	}
	return slices.ContainsFunc(findings, func(f kubelet.Finding) bool { return f.Message == message })
}

func checkAmounts(t *testing.T, got corev1.ResourceList, want json.RawMessage) {
	t.Helper()
	var amounts corev1.ResourceList
	if err := json.Unmarshal(want, &amounts); err != nil {
		t.Fatal(err)
	}
	for name, w := range amounts {
		if g := got[name]; g.Cmp(w) != 0 {
			t.Errorf("%s is %s, want %s", name, &g, &w)
		}
	}
}

func checkLimits(t *testing.T, enforced []allocatable.Enforced, g allocatable.Group, want json.RawMessage) {
	t.Helper()
	var limits struct{ Memory, Pids *int64 }
	if err := json.Unmarshal(want, &limits); err != nil {
		t.Fatal(err)
	}
	for _, e := range enforced {
		if e.Group != g {
			continue
		}
		for name, w := range map[corev1.ResourceName]*int64{"memory": limits.Memory, "pid": limits.Pids} {
			if q := e.Resources[name]; w != nil && q.Value() != *w {
				t.Errorf("%s of %s is %s, want %d", name, g, &q, *w)
			}
		}
		return
	}
	// The case names what a compressible form would write, too.
	if limits.Memory != nil {
		t.Errorf("%s is not enforced", g)
	}
}

// caseNode reads a case's machine; without one it has four cores and 16Gi.
func caseNode(t *testing.T, dir, file string) allocatable.Node {
	t.Helper()
	n := allocatable.Node{CPUs: cpuset.New(0, 1, 2, 3), NUMANodes: []int{0}, Capacity: corev1.ResourceList{
		"cpu": resource.MustParse("4"), "memory": resource.MustParse("16Gi"),
	}}
	if file == "" {
		return n
	}
	data, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Nodes []struct {
			ID        int
			Memory    resource.Quantity
			HugePages map[string]int64
			Cores     [][]int
		}
		EphemeralStorage *resource.Quantity
	}
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	n.NUMANodes, n.CPUs = nil, cpuset.New()
	var memory resource.Quantity
	for _, node := range m.Nodes {
		n.NUMANodes = append(n.NUMANodes, node.ID)
		memory.Add(node.Memory)
		for _, core := range node.Cores {
			n.CPUs = n.CPUs.Union(cpuset.New(core...))
		}
		for kib, count := range node.HugePages {
			size := resource.MustParse(kib + "Ki")
			name := corev1.ResourceName("hugepages-" + size.String())
			sum := n.Capacity[name]
			size.Mul(count)
			sum.Add(size)
			n.Capacity[name] = sum
		}
	}
	n.Capacity["memory"] = memory
	n.Capacity["cpu"] = *resource.NewQuantity(int64(n.CPUs.Size()), resource.DecimalSI)
	if m.EphemeralStorage != nil {
		n.Capacity["ephemeral-storage"] = *m.EphemeralStorage
	}
	return n
}
