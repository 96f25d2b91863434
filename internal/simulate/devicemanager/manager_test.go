package devicemanager

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

const nic = "vendor.com/nic"

// inventory reads devices like "nic0@0 nic1@0,1 nic2 nic3@1!", where ! is
// unhealthy.
func inventory(text string) *machine.Machine {
	m := &machine.Machine{NUMA: []machine.Node{{ID: 0}, {ID: 1}}}
	for field := range strings.FieldsSeq(text) {
		field, broken := strings.CutSuffix(field, "!")
		id, places, _ := strings.Cut(field, "@")
		d := machine.Device{Resource: nic, ID: id, Healthy: !broken}
		for _, c := range places {
			if c != ',' {
				d.NUMA = append(d.NUMA, int(c-'0'))
			}
		}
		m.Devices = append(m.Devices, d)
	}
	return m
}

func registered(devices string, preferred ...string) *Manager {
	m := New(Config{Machine: inventory(devices), Preferred: preferred})
	m.Start(nil)
	m.Register()
	return m
}

func container(name string, count int64) corev1.Container {
	return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{
		Limits: corev1.ResourceList{nic: *resource.NewQuantity(count, resource.DecimalSI)},
	}}
}

func pod(uid string, init []corev1.Container, apps ...corev1.Container) *corev1.Pod {
	p := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: init, Containers: apps}}
	p.UID = types.UID(uid)
	return p
}

func TestHints(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, devices string
		used          int64
		count         int64
		want          string
	}{
		{"one on each", "a@0 b@1", 0, 1, "[0+ 1+ 0,1]"},
		{"both", "a@0 b@1", 0, 2, "[0,1+]"},
		{"only hosts count", "a@0 b@0", 0, 1, "[0+]"},
		{"a device of two nodes counts for either", "a@0,1", 0, 1, "[0+ 1+ 0,1]"},
		{"used ones count for the smallest size", "a@0 b@0 c@1", 1, 2, "[0,1]"},
		{"unhealthy ones too", "a@0! b@0 c@1", 0, 2, "[0,1]"},
		{"no topology at all", "a b", 0, 1, "<nil>"},
		{"without topology never counts", "a@0 b", 0, 2, "[]"},
		{"too many", "a@0 b@1", 0, 3, "[]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := registered(test.devices)
			if test.used > 0 {
				p := pod("other", nil, container("c", test.used))
				if err := m.Allocate(p, &p.Spec.Containers[0], topologymanager.Hint{Affinity: 1}); err != nil {
					t.Fatal(err)
				}
			}
			p := pod("x", nil, container("c", test.count))
			hints, err := m.Hints(p, &p.Spec.Containers[0])
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(hints[nic])
			if hints[nic] == nil {
				got = "<nil>"
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			whole, err := m.PodHints(p)
			if diff := cmp.Diff(hints, whole); err != nil || diff != "" {
				t.Errorf("pod hints differ, error %v (-container +pod):\n%s", err, diff)
			}
		})
	}
}

func TestAllocate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, devices string
		preferred     []string
		count         int64
		affinity      topologymanager.Mask
		want          string
		chance        bool
	}{
		{"aligned first", "a@0 b@1 c@1", nil, 2, 2, "[b c]", false},
		{"then the others", "a@0 b@1 c", nil, 2, 2, "[a b]", false},
		{"without topology last", "a b@0 c@1", nil, 2, 2, "[b c]", false},
		{"chance among the aligned", "a@1 b@1 c@1", nil, 2, 2, "[a b]", true},
		{"a plugin that chooses", "nic10@1 nic9@1 nic8@1", []string{nic}, 2, 2, "[nic8 nic9]", false},
		{"no affinity", "a@1 b@0", nil, 2, 0, "[a b]", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := registered(test.devices, test.preferred...)
			p := pod("x", nil, container("c", test.count))
			if err := m.Allocate(p, &p.Spec.Containers[0], topologymanager.Hint{Affinity: test.affinity}); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(m.Devices("x", "c")[nic]); got != test.want || m.Chance().Devices != test.chance {
				t.Errorf("got %s, chance %t; want %s, %t", got, m.Chance().Devices, test.want, test.chance)
			}
		})
	}
}

// The devices of an ordinary init container go to the next container that asks,
// those of a sidecar stay.
func TestReuse(t *testing.T) {
	t.Parallel()
	m := registered("a@0 b@0 c@0")
	sidecar := container("s", 1)
	sidecar.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	p := pod("x", []corev1.Container{container("i", 2), sidecar}, container("c", 2))
	for _, c := range []*corev1.Container{&p.Spec.InitContainers[0], &p.Spec.InitContainers[1], &p.Spec.Containers[0]} {
		if err := m.Allocate(p, c, topologymanager.Hint{}); err != nil {
			t.Fatal(err)
		}
	}
	got := []string{m.Devices("x", "i")[nic][0], m.Devices("x", "s")[nic][0], fmt.Sprint(m.Devices("x", "c")[nic])}
	if diff := cmp.Diff([]string{"a", "a", "[b c]"}, got); diff != "" {
		t.Errorf("devices (-want +got):\n%s", diff)
	}
	m.RemoveStale(func(string) bool { return false })
	if free := m.Free()[nic]; len(free) != 3 {
		t.Errorf("free after the end: %v", free)
	}
}

func TestAllocateErrors(t *testing.T) {
	t.Parallel()
	p := pod("x", nil, container("c", 2))
	other := pod("x", nil, container("c", 1))
	allocate := func(m *Manager, p *corev1.Pod) error {
		return m.Allocate(p, &p.Spec.Containers[0], topologymanager.Hint{})
	}
	restarted := func(m *Manager, devices string) *Manager {
		again := New(Config{Machine: inventory(devices)})
		again.Start(m.File())
		return again
	}
	holding := func(devices string) *Manager {
		m := registered(devices)
		if err := allocate(m, p); err != nil {
			t.Fatal(err)
		}
		return m
	}
	tests := []struct {
		name    string
		manager *Manager
		pod     *corev1.Pod
		wantErr string
	}{
		{"too few", registered("a@0"), p, "requested number of devices unavailable for vendor.com/nic. Requested: 2, Available: 1"},
		{"unknown to all plugins", registered(""), p, ""},
		{"none healthy", registered("a@0! b@0!"), p, "no healthy devices present; cannot allocate unhealthy devices vendor.com/nic"},
		{"plugin gone after a restart", restarted(holding("a@0 b@0"), ""), p, "no healthy devices present; cannot allocate unhealthy devices vendor.com/nic"},
		{"another number", holding("a@0 b@0"), other, `pod "x" container "c" changed request for resource "vendor.com/nic" from 2 to 1`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := allocate(test.manager, test.pod)
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || err.Error() != test.wantErr) {
				t.Errorf("error %v, want %q", err, test.wantErr)
			}
		})
	}
}

// While the kubelet's sources are not ready a running container is let through;
// a device that its plugin no longer reports crashes the kubelet.
func TestRestart(t *testing.T) {
	t.Parallel()
	m := registered("a@0")
	p := pod("x", nil, container("c", 1))
	if err := m.Allocate(p, &p.Spec.Containers[0], topologymanager.Hint{}); err != nil {
		t.Fatal(err)
	}
	again := New(Config{Machine: inventory("z@0")})
	again.Start(m.File())
	again.Recovering(func(uid, name string) bool { return uid == "x" && name == "c" })
	if err := again.Allocate(p, &p.Spec.Containers[0], topologymanager.Hint{}); err != nil {
		t.Errorf("running container: %v", err)
	}
	again.Register()
	_, err := again.Hints(p, &p.Spec.Containers[0])
	if crash, ok := errors.AsType[*topologymanager.CrashError](err); !ok || !strings.Contains(crash.Why, "no longer reports the device a") {
		t.Errorf("hints after the exchange: error %v", err)
	}
}

// A kubelet before v1.36 asks of all nodes, those without devices too.
func TestHintsOfAllNodes(t *testing.T) {
	t.Parallel()
	for minor, want := range map[kubelet.Minor]string{35: "[0+ 0,1]", 36: "[0+]"} {
		m := New(Config{Machine: inventory("a@0 b@0"), Gates: kubelet.DefaultGates(minor)})
		m.Start(nil)
		m.Register()
		p := pod("x", nil, container("c", 1))
		hints, err := m.Hints(p, &p.Spec.Containers[0])
		if got := fmt.Sprint(hints[nic]); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", minor, got, err, want)
		}
	}
}
