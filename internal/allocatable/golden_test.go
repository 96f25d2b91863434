package allocatable_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
)

// goldenCase is one record of the kubelet's own answers, see
// testdata/golden/README.md.
type goldenCase struct {
	Name  string
	Input struct {
		Config  json.RawMessage
		Dropins []struct {
			File   string
			Config json.RawMessage
		}
		Machine struct {
			NumCores                         int
			Memory, EphemeralStorage, MaxPID int64
			HugePages                        map[string]int64
		}
		CgroupVersion int
	}
	Want struct {
		EvictionHard, SystemReserved, KubeReserved   any
		EvictionReservation, Reservation             map[string]int64
		Capacity, Allocatable, AllocatableForCgroups map[string]int64
		ReservedSystemCPUs                           string
		Error                                        *struct{ Stage, Error string }
		Enforced                                     map[string]struct {
			Config struct {
				Memory, PidsLimit *int64
				CPUShares         *uint64
				CPUSet            string
				HugePageLimit     map[string]int64
				Unified           map[string]string
			}
		}
	}
}

func goldenCases(tb testing.TB) []goldenCase {
	tb.Helper()
	data, err := os.ReadFile("../../testdata/golden/allocatable.json")
	if err != nil {
		tb.Fatal(err)
	}
	var cases []goldenCase
	if err := json.Unmarshal(data, &cases); err != nil {
		tb.Fatal(err)
	}
	return cases
}

// load reads the case's configuration from files, as a kubelet would.
func (c *goldenCase) load(tb testing.TB) (*kubelet.Config, error) {
	tb.Helper()
	o := kubelet.LoadOptions{File: "DIR/kubelet.yaml", Data: c.Input.Config}
	if c.Input.Config == nil {
		o = kubelet.LoadOptions{}
	}
	for _, d := range c.Input.Dropins {
		if o.Dir == "" {
			o.Dir = tb.TempDir()
		}
		path := filepath.Join(o.Dir, d.File)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, d.Config, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return kubelet.Load(o)
}

func (c *goldenCase) node(tb testing.TB) allocatable.Node {
	tb.Helper()
	m := c.Input.Machine
	n := allocatable.Node{CgroupVersion: c.Input.CgroupVersion, NUMANodes: []int{0}, Capacity: corev1.ResourceList{
		"cpu":               *resource.NewQuantity(int64(m.NumCores), resource.DecimalSI),
		"memory":            *resource.NewQuantity(m.Memory, resource.BinarySI),
		"ephemeral-storage": *resource.NewQuantity(m.EphemeralStorage, resource.DecimalSI),
		"pid":               *resource.NewQuantity(m.MaxPID, resource.DecimalSI),
	}}
	for kib, count := range m.HugePages {
		size := resource.MustParse(kib + "Ki")
		sum := size.DeepCopy()
		sum.Mul(count)
		n.Capacity[corev1.ResourceName("hugepages-"+size.String())] = sum
	}
	var ids []int
	for id := range m.NumCores {
		ids = append(ids, id)
	}
	n.CPUs = cpuset.New(ids...)
	return n
}

// amounts are millicores, else units, rounded up.
func amounts(list corev1.ResourceList, names map[string]int64) map[string]int64 {
	got := map[string]int64{}
	for name, q := range list {
		if _, ok := names[string(name)]; ok {
			got[string(name)] = quantity.Units(name, q)
		}
	}
	return got
}

func TestGolden(t *testing.T) {
	for _, c := range goldenCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			cfg, err := c.load(t)
			var findings []kubelet.Finding
			if err != nil {
				findings = []kubelet.Finding{{Message: err.Error()}}
			} else {
				findings = allocatable.CheckOn(cfg, c.node(t))
			}
			c.checkError(t, findings)
			if err != nil || c.Want.Allocatable == nil {
				return
			}
			got, _ := allocatable.Compute(cfg, c.node(t))
			for _, d := range []struct {
				what string
				want map[string]int64
				got  corev1.ResourceList
			}{
				{"capacity", c.Want.Capacity, got.Capacity},
				{"allocatable", c.Want.Allocatable, got.Allocatable},
				{"allocatableForCgroups", c.Want.AllocatableForCgroups, got.Absolute},
				{"evictionReservation", c.Want.EvictionReservation, got.Eviction},
			} {
				if diff := cmp.Diff(d.want, amounts(d.got, d.want)); diff != "" && d.want != nil {
					t.Errorf("%s (-want +got):\n%s", d.what, diff)
				}
			}
			if got.Reservations.CPUs.String() != c.Want.ReservedSystemCPUs {
				t.Errorf("reserved CPUs %s, want %s", got.Reservations.CPUs, c.Want.ReservedSystemCPUs)
			}
			c.checkEnforced(t, got.Enforced)
		})
	}
}

// checkError wants each part of the kubelet's error among the findings. What
// needs the cgroups of a host is not asked here.
func (c *goldenCase) checkError(t *testing.T, findings []kubelet.Finding) {
	t.Helper()
	want := c.Want.Error
	if want == nil || want.Stage == "enforce" {
		if len(findings) > 0 {
			t.Errorf("refused: %v", findings)
		}
		return
	}
	text := want.Error
	if _, inner, ok := strings.Cut(text, "failed to load kubelet dropin file, path: DIR/kubelet.conf.d/10.conf"); ok {
		text = inner
	}
	parts := regexp.MustCompile(`, (invalid configuration: )`).Split(strings.Trim(text, "[]"), -1)
	for _, part := range parts {
		if !slices.ContainsFunc(findings, func(f kubelet.Finding) bool { return strings.Contains(f.Message, part) }) {
			t.Errorf("not told: %s\nfindings: %v", part, findings)
		}
	}
}

func (c *goldenCase) checkEnforced(t *testing.T, got []allocatable.Enforced) {
	t.Helper()
	if c.Want.Error != nil {
		return
	}
	if len(got) != len(c.Want.Enforced) {
		t.Errorf("%d cgroups enforced, want %d", len(got), len(c.Want.Enforced))
	}
	groups := map[string]allocatable.Group{"/kubepods": allocatable.GroupKubepods, "/kubepods.slice": allocatable.GroupKubepods}
	for path, want := range c.Want.Enforced {
		group, ok := groups[path]
		i := slices.IndexFunc(got, func(e allocatable.Enforced) bool {
			return e.Group == group || !ok && e.Group != allocatable.GroupKubepods && strings.HasPrefix(path, strings.TrimSuffix(e.Cgroup, ".slice"))
		})
		if i < 0 {
			t.Errorf("%s is not enforced", path)
			continue
		}
		e := got[i]
		check := func(name corev1.ResourceName, want *int64) {
			q, ok := e.Resources[name]
			if ok != (want != nil) || ok && q.Value() != *want {
				t.Errorf("%s: %s %v (set %t), want %v", path, name, q.Value(), ok, want)
			}
		}
		check("memory", want.Config.Memory)
		check("pid", want.Config.PidsLimit)
		if _, ok := e.Resources["cpu"]; ok != (want.Config.CPUShares != nil) {
			t.Errorf("%s: cpu set %t", path, ok)
		}
		cpus := ""
		if e.CPUs != nil {
			cpus = e.CPUs.String()
		}
		if cpus != want.Config.CPUSet {
			t.Errorf("%s: CPUs %q, want %q", path, cpus, want.Config.CPUSet)
		}
		if _, ok := want.Config.Unified["memory.min"]; ok != (e.ProtectMemory || e.ResetProtection) {
			t.Errorf("%s: memory.min %v, protect %t, reset %t", path, want.Config.Unified, e.ProtectMemory, e.ResetProtection)
		}
	}
}
