package cpumanager

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
)

// synthetic reads a machine such as "sockets=2,cores=64,threads=2".
func synthetic(t testing.TB, description string) *machine.Machine {
	t.Helper()
	m, err := machine.Load(context.Background(), "synthetic:"+description)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// started is a static policy manager on a fresh node.
func started(t testing.TB, node *machine.Machine, reserved string, options ...string) *Manager {
	t.Helper()
	return startedWith(t, node, Config{Reservation: quantity(reserved), Options: on(options...)})
}

func startedWith(t testing.TB, node *machine.Machine, c Config) *Manager {
	t.Helper()
	if c.Policy == "" {
		c.Policy = kubelet.CPUPolicyStatic
	}
	c.Gates = gates(t, "CPUManagerPolicyAlphaOptions")
	m, err := New(node, c)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(State{}); err != nil {
		t.Fatal(err)
	}
	return m
}

func gates(t testing.TB, names ...string) kubelet.Gates {
	t.Helper()
	enabled := map[string]bool{}
	for _, name := range names {
		enabled[name] = true
	}
	g, err := kubelet.DefaultGates(kubelet.Latest).With(enabled)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func on(options ...string) map[string]string {
	values := map[string]string{}
	for _, name := range options {
		values[name] = "true"
	}
	return values
}

func quantity(s string) *resource.Quantity {
	q := resource.MustParse(s)
	return &q
}

func container(name, cpu string) corev1.Container {
	list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("1Gi")}
	return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: list, Limits: list}}
}

func sidecar(name, cpu string) corev1.Container {
	always := corev1.ContainerRestartPolicyAlways
	c := container(name, cpu)
	c.RestartPolicy = &always
	return c
}

func newPod(name string, apps ...corev1.Container) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Name, pod.UID = name, types.UID(name)
	pod.Spec.Containers = apps
	return pod
}

func list(s string) cpuset.CPUSet {
	set, err := cpuset.Parse(s)
	if err != nil {
		panic(err)
	}
	return set
}

func TestReservedCPUs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, machine, reserved string
		options                 []string
		want                    string
	}{
		{"one CPU", "sockets=2,numa=2,cores=64,threads=2", "1", nil, "0"},
		{"a fraction rounds up to a core", "sockets=2,numa=2,cores=64,threads=2", "1500m", nil, "0,64"},
		{"over two NUMA nodes", "sockets=2,numa=2,cores=64,threads=2", "66", []string{OptionDistributeAcrossNUMA}, "0-16,32-48,64-79,96-111"},
		{"over cores", "sockets=1,numa=1,cores=8,threads=2", "3", []string{OptionDistributeAcrossCores}, "0-2"},
		{"strict", "sockets=1,numa=1,cores=8,threads=2", "2", []string{OptionStrictReservation}, "0,8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := started(t, synthetic(t, tt.machine), tt.reserved, tt.options...)
			if got := m.Reserved().String(); got != tt.want {
				t.Errorf("reserved %s, want %s", got, tt.want)
			}
		})
	}
}
