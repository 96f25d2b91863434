package memorymanager

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

const gib = 1 << 30

// twoNodes has 10 GiB on each of two nodes, with 1 GiB reserved on the first
// and 1 GiB of huge pages of 2 MiB on the second.
func twoNodes() *machine.Machine {
	return &machine.Machine{NUMA: []machine.Node{
		{ID: 0, Memory: 10 * gib, HugePages: map[string]int64{"2Mi": 0}},
		{ID: 1, Memory: 10 * gib, HugePages: map[string]int64{"2Mi": 512}},
	}}
}

func reserve(node int32, list string) kubeletv1beta1.MemoryReservation {
	limits := corev1.ResourceList{}
	for part := range strings.FieldsSeq(list) {
		name, amount, _ := strings.Cut(part, "=")
		limits[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return kubeletv1beta1.MemoryReservation{NumaNode: node, Limits: limits}
}

func config() Config {
	return Config{
		Policy: kubelet.MemoryPolicyStatic, Machine: twoNodes(),
		Reserved:        []kubeletv1beta1.MemoryReservation{reserve(0, "memory=1Gi")},
		NodeReservation: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
	}
}

func started(t testing.TB, c Config) *Manager {
	t.Helper()
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(nil); err != nil {
		t.Fatal(err)
	}
	return m
}

func container(name, limits string) corev1.Container {
	list := reserve(0, limits+" cpu=1").Limits
	return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Limits: list, Requests: list}}
}

func pod(uid string, init []corev1.Container, apps ...corev1.Container) *corev1.Pod {
	p := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: init, Containers: apps}}
	p.UID = types.UID(uid)
	return p
}

// free lists the free GiB of memory on the nodes.
func free(m *Manager) string {
	return fmt.Sprintf("%d %d", m.Nodes()[0].MemoryMap["memory"].Free/gib, m.Nodes()[1].MemoryMap["memory"].Free/gib)
}

// Every refusal to be made, in the kubelet's words.
func TestNew(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		change  func(*Config)
		wantErr string
	}{
		{"good", func(*Config) {}, ""},
		{"none", func(c *Config) { c.Policy, c.Reserved = kubelet.MemoryPolicyNone, nil }, ""},
		{"case", func(c *Config) { c.Policy = "static" }, `unknown policy: "static"`},
		{"Windows", func(c *Config) { c.Policy = "BestEffort" }, `policy "BestEffort" is not available for platform "linux"`},
		{"other sum", func(c *Config) { c.Reserved[0] = reserve(0, "memory=2Gi") }, `the total amount "2Gi" of type "memory" is not equal to the value "1Gi" determined by Node Allocatable feature`},
		{"split", func(c *Config) {
			c.Reserved = []kubeletv1beta1.MemoryReservation{reserve(0, "memory=512Mi"), reserve(1, "memory=512Mi")}
		}, ""},
		{"huge pages", func(c *Config) { c.Reserved[0] = reserve(0, "memory=1Gi hugepages-2Mi=64Mi") }, `the total amount "64Mi" of type "hugepages-2Mi" is not equal to the value "0" determined by Node Allocatable feature`},
		{"unknown node", func(c *Config) { c.Reserved[0] = reserve(7, "memory=1Gi") }, "the reserved memory configuration references a NUMA node 7 that does not exist on this machine"},
		{"nothing reserved", func(c *Config) { c.Reserved, c.NodeReservation = nil, nil }, "[memorymanager] you should specify the system reserved memory"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := config()
			test.change(&c)
			_, err := New(c)
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || err.Error() != test.wantErr) {
				t.Errorf("error %v, want %q", err, test.wantErr)
			}
		})
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		before []*corev1.Pod
		limits string
		want   string
	}{
		{"fits any", nil, "memory=2Gi", "map[memory:[0+ 1+ 0,1]]"},
		{"fits one", nil, "memory=9500Mi", "map[memory:[0,1+]]"},
		{"too large for the machine is no preference", nil, "memory=30Gi", "map[]"},
		{"all types share a list", nil, "memory=1Gi hugepages-2Mi=64Mi", "map[hugepages-2Mi:[1+ 0,1] memory:[1+ 0,1]]"},
		{"a used node joins no group", []*corev1.Pod{pod("a", nil, container("c", "memory=8Gi"))}, "memory=6Gi", "map[memory:[1+]]"},
		{"a group serves no single node", []*corev1.Pod{pod("a", nil, container("c", "memory=12Gi"))}, "memory=1Gi", "map[memory:[0,1]]"},
		{"only wider is free, by allocatable", []*corev1.Pod{pod("a", nil, container("c", "memory=12Gi"))}, "memory=2Gi", "map[memory:[0,1]]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := started(t, config())
			for _, p := range test.before {
				if err := m.Allocate(p, &p.Spec.Containers[0], topologymanager.Hint{}); err != nil {
					t.Fatal(err)
				}
			}
			p := pod("x", nil, container("c", test.limits))
			hints, err := m.Hints(p, &p.Spec.Containers[0])
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(map[string][]topologymanager.Hint(hints)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestAllocate(t *testing.T) {
	t.Parallel()
	on0, on1 := topologymanager.Hint{Affinity: 1, Preferred: true}, topologymanager.Hint{Affinity: 2, Preferred: true}
	unpreferred := topologymanager.Hint{Affinity: 1}
	small, large := pod("a", nil, container("c", "memory=2Gi")), pod("a", nil, container("c", "memory=12Gi"))
	tests := []struct {
		name     string
		before   *corev1.Pod
		limits   string
		affinity topologymanager.Hint
		wantErr  string
		wantFree string
	}{
		{"own best", nil, "memory=2Gi", topologymanager.Hint{}, "", "7 9"},
		{"by affinity", nil, "memory=2Gi", on1, "", "9 7"},
		{"extended", nil, "memory=12Gi", unpreferred, "", "0 6"},
		{"none at all", nil, "memory=30Gi", topologymanager.Hint{}, "failed to get the default NUMA affinity", ""},
		{"preferred needs preferred", large, "memory=2Gi", topologymanager.Hint{Preferred: true}, "failed to find the default preferred hint", ""},
		{"nothing to extend to", small, "memory=12Gi", unpreferred, "failed to find NUMA nodes to extend the current topology hint", ""},
		{"extension not preferred", large, "memory=2Gi", on0, "failed to find the extended preferred hint", ""},
		{"mixed", small, "memory=4Gi", topologymanager.Hint{Affinity: 3}, "preferred hint violates NUMA node allocation", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := started(t, config())
			if test.before != nil {
				if err := m.Allocate(test.before, &test.before.Spec.Containers[0], topologymanager.Hint{}); err != nil {
					t.Fatal(err)
				}
			}
			before := free(m)
			p := pod("x", nil, container("c", test.limits))
			err := m.Allocate(p, &p.Spec.Containers[0], test.affinity)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) || free(m) != before {
					t.Errorf("error %v, want %q; free %s, was %s", err, test.wantErr, free(m), before)
				}
				return
			}
			if err != nil || free(m) != test.wantFree {
				t.Errorf("error %v; free %s, want %s", err, free(m), test.wantFree)
			}
		})
	}
}

// An app container takes over what an ordinary init container had, not what a
// sidecar has; once the app container starts, the init container's entry goes.
func TestInitReuse(t *testing.T) {
	t.Parallel()
	m := started(t, config())
	sidecar := container("s", "memory=1Gi")
	sidecar.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	p := pod("x", []corev1.Container{container("i", "memory=4Gi"), sidecar}, container("a", "memory=3Gi"))
	on0 := topologymanager.Hint{Affinity: 1, Preferred: true}
	var after []string
	for i := range p.Spec.InitContainers {
		if err := m.Allocate(p, &p.Spec.InitContainers[i], on0); err != nil {
			t.Fatal(err)
		}
		after = append(after, free(m))
	}
	if err := m.Allocate(p, &p.Spec.Containers[0], on0); err != nil {
		t.Fatal(err)
	}
	after = append(after, free(m))
	// The sidecar takes 1 GiB of the 4 over for itself, the app container the
	// other 3.
	if diff := cmp.Diff([]string{"5 9", "5 9", "5 9"}, after); diff != "" {
		t.Errorf("free (-want +got):\n%s", diff)
	}
	m.ContainerStarted(p, "a")
	if blocks := m.Blocks("x", "i"); blocks != nil || free(m) != "5 9" {
		t.Errorf("after the start: blocks %v, free %s", blocks, free(m))
	}
	m.RemoveStale(func(string) bool { return false })
	if free(m) != "9 9" {
		t.Errorf("after the end: free %s", free(m))
	}
}

// A size that a node does not know crashes the kubelet.
func TestUnknownHugePages(t *testing.T) {
	t.Parallel()
	m := started(t, config())
	p := pod("x", nil, container("c", "memory=1Gi hugepages-1Gi=1Gi"))
	_, err := m.Hints(p, &p.Spec.Containers[0])
	crash, ok := errors.AsType[*topologymanager.CrashError](err)
	if !ok || !strings.Contains(crash.Why, "node 0 has no hugepages-1Gi") {
		t.Errorf("error %v", err)
	}
}

func TestRestoredState(t *testing.T) {
	t.Parallel()
	grown := config()
	grown.Machine.NUMA[1].Memory += gib
	p := pod("x", nil, container("c", "memory=2Gi"))
	tests := []struct {
		name    string
		config  Config
		change  func(*kubelet.MemoryManagerState)
		wantErr string
	}{
		{"same", config(), func(*kubelet.MemoryManagerState) {}, ""},
		{"more memory", grown, func(*kubelet.MemoryManagerState) {}, "[memorymanager] the expected machine state is different from the real one"},
		{"another size", config(), func(s *kubelet.MemoryManagerState) { s.Entries["x"]["c"][0].Size++ }, "[memorymanager] the expected machine state is different from the real one"},
		{"another node", config(), func(s *kubelet.MemoryManagerState) { s.Entries["x"]["c"][0].NUMAAffinity = []int{5} }, "[memorymanager] (pod: x, container: c) the memory assignment uses the NUMA that does not exist"},
		{"another type", config(), func(s *kubelet.MemoryManagerState) { s.Entries["x"]["c"][0].Type = "hugepages-1Gi" }, "[memorymanager] (pod: x, container: c) the memory assignment uses memory resource that does not exist"},
		{"no nodes", config(), func(s *kubelet.MemoryManagerState) { s.MachineState = nil }, "[memorymanager] machine state can not be empty when it has memory assignments"},
		{"null node", config(), func(s *kubelet.MemoryManagerState) { s.MachineState[0] = nil }, "runtime error: invalid memory address or nil pointer dereference: NUMA node 0 has no state, and the memory manager looks it up without asking"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := started(t, config())
			if err := m.Allocate(p, &p.Spec.Containers[0], topologymanager.Hint{}); err != nil {
				t.Fatal(err)
			}
			s := m.State()
			test.change(s)
			again, err := New(test.config)
			if err != nil {
				t.Fatal(err)
			}
			err = again.Start(s)
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || err.Error() != test.wantErr) {
				t.Errorf("error %v, want %q", err, test.wantErr)
			}
		})
	}
}

func BenchmarkHints(b *testing.B) {
	for _, n := range []int{2, 4, 8, 16} {
		b.Run(fmt.Sprintf("%dnodes", n), func(b *testing.B) {
			c := config()
			c.Machine = &machine.Machine{}
			for id := range n {
				c.Machine.NUMA = append(c.Machine.NUMA, machine.Node{ID: id, Memory: 64 * gib})
			}
			m := started(b, c)
			p := pod("x", nil, container("c", "memory=100Gi"))
			for b.Loop() {
				if _, err := m.Hints(p, &p.Spec.Containers[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
