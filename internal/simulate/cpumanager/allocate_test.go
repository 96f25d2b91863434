package cpumanager

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// placed admits a pod's containers one by one without affinity and tells the
// CPUs of those that have their own, or why it was refused.
func placed(m *Manager, pod *corev1.Pod) map[string]string {
	got := map[string]string{}
	for _, c := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
		if err := m.Allocate(pod, &c, topologymanager.Hint{}); err != nil {
			got[c.Name] = err.Error()
			return got
		}
		if cpus, own := m.CPUs(pod.UID, c.Name); own {
			got[c.Name] = cpus.String()
		}
	}
	return got
}

func TestAllocationOrder(t *testing.T) {
	t.Parallel()
	const (
		oneSocket  = "sockets=1,numa=1,cores=8,threads=2"
		twoSockets = "sockets=2,numa=2,cores=16,threads=2"
		fourNodes  = "sockets=2,numa=4,cores=16,threads=2"
		caches     = "sockets=1,numa=1,llc=4,cores=16,threads=2"
	)
	tests := []struct {
		name, machine string
		options       []string
		requests      []string
		want          []string
	}{
		{"whole cores", oneSocket, nil, []string{"4", "2"}, []string{"1-2,9-10", "3,11"}},
		{"a broken core is used up first", oneSocket, nil, []string{"1", "2", "1"}, []string{"8", "1,9", "2"}},
		{"the smallest free socket that fits", twoSockets, nil, []string{"16", "8"}, []string{"8-15,24-31", "1-4,17-20"}},
		{"a node of the socket in use", fourNodes, nil, []string{"8", "8", "4"}, []string{"4-7,20-23", "8-11,24-27", "1-2,17-18"}},
		{"over cores", oneSocket, []string{OptionDistributeAcrossCores}, []string{"4"}, []string{"1-4"}},
		{"over NUMA nodes", twoSockets, []string{OptionDistributeAcrossNUMA}, []string{"18"}, []string{"1-4,8-12,16-20,24-27"}},
		{"one cache", caches, []string{OptionPreferAlignByUncore}, []string{"4", "8"}, []string{"4-5,20-21", "8-11,24-27"}},
		{"too many", oneSocket, nil, []string{"16"}, []string{"not enough cpus available to satisfy request: requested=16, available=15"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := started(t, synthetic(t, tt.machine), "1", tt.options...)
			var got []string
			for i, n := range tt.requests {
				got = append(got, placed(m, newPod(string(rune('a'+i)), container("c", n)))["c"])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReuse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		init []corev1.Container
		apps []corev1.Container
		want map[string]string
	}{
		{
			"an app container takes over from an init container",
			[]corev1.Container{container("i", "4")},
			[]corev1.Container{container("a", "2"), container("b", "2")},
			map[string]string{"i": "1-2,9-10", "a": "1,9", "b": "2,10"},
		},
		{
			"a sidecar keeps what it took over",
			[]corev1.Container{container("i", "2"), sidecar("s", "2")},
			[]corev1.Container{container("a", "2")},
			map[string]string{"i": "1,9", "s": "1,9", "a": "2,10"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := started(t, synthetic(t, "sockets=1,numa=1,cores=8,threads=2"), "2")
			pod := newPod("p", tt.apps...)
			pod.Spec.InitContainers = tt.init
			if diff := cmp.Diff(tt.want, placed(m, pod)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestFullPCPUsOnly(t *testing.T) {
	t.Parallel()
	m := started(t, synthetic(t, "sockets=1,numa=1,cores=4,threads=2"), "1", OptionFullPCPUsOnly)
	for request, want := range map[string]string{
		"3": "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2",
		"8": "SMT Alignment Error: not enough free physical CPUs: available physical CPUs = 6, requested CPUs = 8, CPUs per core = 2",
	} {
		pod := newPod("p", container("c", request))
		err := m.Allocate(pod, &pod.Spec.Containers[0], topologymanager.Hint{})
		refusal, ok := errors.AsType[*topologymanager.RefusalError](err)
		if !ok || refusal.Reason != topologymanager.ReasonSMTAlignment || refusal.Message != want {
			t.Errorf("%s CPUs: %v, want %s", request, err, want)
		}
	}
	if got := placed(m, newPod("p", container("c", "6")))["c"]; got != "1-3,5-7" {
		t.Errorf("6 CPUs: %s", got)
	}
}

func TestAffinity(t *testing.T) {
	t.Parallel()
	m := started(t, synthetic(t, "sockets=2,numa=2,cores=8,threads=2"), "2")
	pod := newPod("p", container("c", "10"))
	if err := m.Allocate(pod, &pod.Spec.Containers[0], topologymanager.Hint{Affinity: 2}); err != nil {
		t.Fatal(err)
	}
	// Node 1 has 8 CPUs, the rest comes from what is left elsewhere.
	if cpus, _ := m.CPUs(pod.UID, "c"); cpus.String() != "1,4-7,9,12-15" {
		t.Errorf("got %s", cpus)
	}
	if got := m.Shared().String(); got != "0,2-3,8,10-11" {
		t.Errorf("shared %s", got)
	}
}

func TestUnequalCores(t *testing.T) {
	t.Parallel()
	// One thread of the last core is offline: 7 CPUs on 4 cores average to 1.
	node := synthetic(t, "sockets=1,numa=1,cores=4,threads=2")
	node.CPUs[7] = machine.CPU{ID: 7, Core: -1, Socket: -1, NUMA: -1, LLC: -1}
	m := started(t, node, "1")
	// The reserved CPU is 3, on the one core that has as many CPUs as the average.
	// Once CPU 0 is in use core 0 is such a core too: the kubelet takes it for
	// free, and both its CPUs with it.
	want := map[string]string{"a": "0", "b": "0,4", "c": "1,5"}
	got := placed(m, newPod("p", container("a", "1"), container("b", "2"), container("c", "2")))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDistributionWithoutEnd(t *testing.T) {
	t.Parallel()
	// Eight sockets of two NUMA nodes with 16 CPUs each; on seven sockets the
	// nodes have 1 and 15 CPUs free, on the last 8 and 8.
	node := synthetic(t, "sockets=8,numa=16,cores=256,threads=1")
	topology, err := discover(node)
	if err != nil {
		t.Fatal(err)
	}
	free := newSet(len(topology.ids))
	for numa := range topology.numa.all {
		want := []int{1, 15}[numa%2]
		if numa >= 14 {
			want = 8
		}
		for cpu := range topology.numa.members[numa].all() {
			if want > 0 {
				free.add(cpu)
				want--
			}
		}
	}
	_, err = topology.takeDistributed(free, 60, distribution{group: 1, capped: true})
	if _, crash := errors.AsType[*topologymanager.CrashError](err); !crash {
		t.Errorf("got %v, want a crash", err)
	}
}
