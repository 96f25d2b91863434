package topologymanager

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
)

// fake is a provider that notes what it is asked.
type fake struct {
	name  string
	hints Hints
	err   error
	calls *[]string
}

func (f fake) note(format string, args ...any) {
	*f.calls = append(*f.calls, f.name+" "+fmt.Sprintf(format, args...))
}

func (f fake) Name() string { return f.name }

func (f fake) Hints(_ *corev1.Pod, c *corev1.Container) (Hints, error) {
	f.note("hints %s", c.Name)
	return f.hints, nil
}

func (f fake) PodHints(*corev1.Pod) (Hints, error) {
	f.note("pod hints")
	return f.hints, nil
}

func (f fake) Allocate(_ *corev1.Pod, c *corev1.Container, h Hint) error {
	f.note("allocate %s %v", c.Name, h)
	return f.err
}

func (f fake) AllocatePod(_ *corev1.Pod, h Hint) error {
	f.note("allocate pod %v", h)
	return f.err
}

func podOf(init, app string) *corev1.Pod {
	return &corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: init}}, Containers: []corev1.Container{{Name: app}},
	}}
}

func TestAdmit(t *testing.T) {
	t.Parallel()
	gates, err := kubelet.Gates{}.With(map[string]bool{"PodLevelResourceManagers": true})
	if err != nil {
		t.Fatal(err)
	}
	podLevel := podOf("i", "a")
	podLevel.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("2")}}
	on1 := Hints{"cpu": {{Affinity: 2, Preferred: true}}}
	tests := []struct {
		name          string
		policy, scope string
		pod           *corev1.Pod
		cpu           fake
		memory        Hints
		want          []string
		refusal       string
	}{
		{
			name: "container scope alternates", policy: kubelet.TopologyPolicyRestricted, scope: kubelet.TopologyScopeContainer, cpu: fake{hints: on1},
			want: []string{"cpu hints i", "memory hints i", "cpu allocate i 1+", "memory allocate i 1+", "cpu hints a", "memory hints a", "cpu allocate a 1+", "memory allocate a 1+"},
		},
		{
			name: "pod scope merges once", policy: kubelet.TopologyPolicyRestricted, scope: kubelet.TopologyScopePod, cpu: fake{hints: on1},
			want: []string{"cpu pod hints", "memory pod hints", "cpu allocate i 1+", "memory allocate i 1+", "cpu allocate a 1+", "memory allocate a 1+"},
		},
		{
			name: "pod-level resources in pod scope", policy: kubelet.TopologyPolicyRestricted, scope: kubelet.TopologyScopePod, pod: podLevel, cpu: fake{hints: on1},
			want: []string{"cpu pod hints", "memory pod hints", "cpu allocate pod 1+", "memory allocate pod 1+"},
		},
		{
			name: "none asks for no hints", policy: kubelet.TopologyPolicyNone, cpu: fake{hints: on1},
			want: []string{"cpu allocate i any", "memory allocate i any", "cpu allocate a any", "memory allocate a any"},
		},
		{
			name: "no agreement", policy: kubelet.TopologyPolicyRestricted, scope: kubelet.TopologyScopeContainer, cpu: fake{hints: on1}, memory: Hints{"memory": {{Affinity: 1, Preferred: true}}},
			want:    []string{"cpu hints i", "memory hints i"},
			refusal: "TopologyAffinityError: Resources cannot be allocated with Topology locality",
		},
		{
			name: "pod-level refusal", policy: kubelet.TopologyPolicyRestricted, scope: kubelet.TopologyScopePod, pod: podLevel, cpu: fake{hints: Hints{"cpu": {}}},
			want:    []string{"cpu pod hints", "memory pod hints"},
			refusal: "TopologyAffinityError: Pod Scope pod with pod-level resources failed admission under pod-scope topology manager",
		},
		{
			name: "pod-level refusal in container scope", policy: kubelet.TopologyPolicyRestricted, scope: kubelet.TopologyScopeContainer, pod: podLevel, cpu: fake{hints: Hints{"cpu": {}}},
			want:    []string{"cpu hints i", "memory hints i"},
			refusal: "TopologyAffinityError: Pod Scope pod with pod-level resources failed admission with a container-level topology manager",
		},
		{
			name: "unexpected error", policy: kubelet.TopologyPolicyNone, cpu: fake{err: errors.New("no CPUs")},
			want:    []string{"cpu allocate i any"},
			refusal: "UnexpectedAdmissionError: Allocate failed due to no CPUs, which is unexpected",
		},
		{
			name: "error with a reason", policy: kubelet.TopologyPolicyNone, cpu: fake{err: &RefusalError{ReasonSMTAlignment, "SMT"}},
			want:    []string{"cpu allocate i any"},
			refusal: "SMTAlignmentError: SMT",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m, err := New(Config{Policy: test.policy, Scope: test.scope, Nodes: nodes(0, 1), Gates: gates})
			if err != nil {
				t.Fatal(err)
			}
			var calls []string
			test.cpu.name, test.cpu.calls = "cpu", &calls
			m.Providers = []Provider{test.cpu, fake{name: "memory", hints: test.memory, calls: &calls}}
			pod := test.pod
			if pod == nil {
				pod = podOf("i", "a")
			}
			v := m.Admit(pod)
			if diff := cmp.Diff(test.want, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if got := strings.TrimPrefix(v.Reason+": "+v.Message, ": "); got != test.refusal || v.Admitted != (test.refusal == "") {
				t.Errorf("admitted %t, refusal %q; want %q", v.Admitted, got, test.refusal)
			}
		})
	}
}

// A crash of a provider is neither an admission nor a refusal.
func TestAdmitCrash(t *testing.T) {
	t.Parallel()
	m, err := New(Config{Policy: kubelet.TopologyPolicyNone})
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	m.Providers = []Provider{fake{name: "memory", err: fmt.Errorf("wrapped: %w", &CrashError{Message: "nil pointer"}), calls: &calls}}
	if v := m.Admit(podOf("i", "a")); v.Crash == nil || v.Admitted || v.Reason != "" {
		t.Errorf("got %+v", v)
	}
}
