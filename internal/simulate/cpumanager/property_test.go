package cpumanager

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/cpuset"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// life is a manager on a regular machine and what it was asked so far.
type life struct {
	m    *Manager
	pods map[types.UID]*corev1.Pod
}

func newLife(t *rapid.T, tb testing.TB) *life {
	machines := []string{
		"sockets=1,numa=1,cores=8,threads=1", "sockets=1,numa=2,cores=8,threads=2", "sockets=2,numa=2,cores=16,threads=2",
		"sockets=2,numa=8,llc=8,cores=32,threads=2", "sockets=4,numa=4,llc=8,cores=16,threads=2", "sockets=4,numa=2,cores=16,threads=2",
	}
	options := [][]string{
		nil,
		{OptionFullPCPUsOnly},
		{OptionPreferAlignByUncore},
		{OptionDistributeAcrossCores},
		{OptionDistributeAcrossNUMA},
		{OptionDistributeAcrossNUMA, OptionFullPCPUsOnly},
		{OptionStrictReservation},
	}
	node := synthetic(tb, rapid.SampledFrom(machines).Draw(t, "machine"))
	reserved := fmt.Sprint(rapid.IntRange(1, 3).Draw(t, "reserved"))
	return &life{started(tb, node, reserved, rapid.SampledFrom(options).Draw(t, "options")...), map[types.UID]*corev1.Pod{}}
}

// admit asks for hints and allocates, under the first preferred hint if there
// is one, until a container is refused.
func (l *life) admit(t *rapid.T, pod *corev1.Pod) {
	l.pods[pod.UID] = pod
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		hints, err := l.m.Hints(pod, c)
		if err != nil {
			t.Fatal(err)
		}
		var use topologymanager.Hint
		for _, h := range hints["cpu"] {
			if h.Preferred {
				use = h
				break
			}
		}
		if err := l.m.Allocate(pod, c, use); err != nil {
			return
		}
	}
}

func (l *life) end(pod types.UID) {
	delete(l.pods, pod)
	l.m.RemoveStale(func(uid types.UID, _ string) bool { return l.pods[uid] != nil })
}

func TestCPUsHaveOneOwner(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		l := newLife(r, t)
		managed := l.m.Topology().CPUs()
		if l.m.options.StrictReservation {
			managed = managed.Difference(l.m.Reserved())
		}
		for i := range rapid.IntRange(1, 12).Draw(r, "steps") {
			if uids := slices.Sorted(maps.Keys(l.pods)); len(uids) > 0 && rapid.IntRange(0, 2).Draw(r, "end") == 0 {
				l.end(rapid.SampledFrom(uids).Draw(r, "pod"))
			} else {
				l.admit(r, drawPod(r, i))
			}
			checkOwners(r, l.m, managed)
		}
		before := l.m.State()
		// A kubelet whose last CPU went to a container, which only strict
		// reservation allows, does not start again: "default cpuset cannot be empty".
		if err := l.m.Start(before); err != nil && !before.Default.IsEmpty() {
			r.Fatalf("starting with the state as written: %v", err)
		}
		if diff := cmp.Diff(before.Default.String(), l.m.Shared().String()); diff != "" {
			r.Errorf("a restart changed the shared pool:\n%s", diff)
		}
		for uid := range maps.Clone(l.pods) {
			l.end(uid)
		}
		if got := l.m.State(); !got.Default.Equals(managed) || len(got.Entries) > 0 {
			r.Errorf("with every pod gone: shared %s, entries %v", got.Default, got.Entries)
		}
	})
}

// checkOwners holds that every CPU is in the shared pool or with one container,
// and that none reserved is with a container.
func checkOwners(t *rapid.T, m *Manager, managed cpuset.CPUSet) {
	s := m.State()
	all := s.Default
	for uid, containers := range s.Entries {
		for name, cpus := range containers {
			if twice := all.Intersection(cpus); !twice.IsEmpty() {
				t.Fatalf("%s/%s shares %s", uid, name, twice)
			}
			if r := cpus.Intersection(m.Reserved()); !r.IsEmpty() {
				t.Fatalf("%s/%s has the reserved CPUs %s", uid, name, r)
			}
			all = all.Union(cpus)
		}
	}
	if !all.Equals(managed) {
		t.Fatalf("%s are managed, %s accounted for", managed, all)
	}
}

func TestAllocationIsWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		l := newLife(r, t)
		for i := range rapid.IntRange(0, 5).Draw(r, "others") {
			l.admit(r, drawPod(r, i))
		}
		before := l.m.State()
		pod := newPod("p", container("c", fmt.Sprint(rapid.IntRange(1, 40).Draw(r, "request"))))
		c := &pod.Spec.Containers[0]
		hints, err := l.m.Hints(pod, c)
		if err != nil {
			r.Fatal(err)
		}
		checkHints(r, l.m, l.m.exclusive(pod, c), hints["cpu"])
		if err := l.m.Allocate(pod, c, topologymanager.Hint{}); err != nil {
			return
		}
		if cpus, _ := l.m.CPUs(pod.UID, "c"); cpus.Size() != l.m.exclusive(pod, c) {
			r.Errorf("%d CPUs asked for, got %s", l.m.exclusive(pod, c), cpus)
		}
		l.m.Remove(pod.UID, "c")
		if diff := cmp.Diff(before.Default.String(), l.m.Shared().String()); diff != "" {
			r.Errorf("removing does not undo adding:\n%s", diff)
		}
	})
}

// checkHints holds that a preferred hint is no wider than the request needs
// on an empty machine, and that no hint promises more than is free.
func checkHints(t *rapid.T, m *Manager, n int, hints []topologymanager.Hint) {
	for _, h := range hints {
		size, free := 0, 0
		for _, node := range m.nodesIn(h.Affinity) {
			members := m.topology.numa.members[node]
			size += members.count()
			free += m.available().intersect(members).count()
		}
		if free < n {
			t.Errorf("hint %s for %d CPUs with %d free", h, n, free)
		}
		if !h.Preferred {
			continue
		}
		for narrower := range topologymanager.Subsets(m.topology.numa.ids) {
			could := 0
			for _, node := range m.nodesIn(narrower) {
				could += m.topology.numa.size(node)
			}
			if could >= n && narrower.Count() < h.Affinity.Count() {
				t.Fatalf("preferred hint %s for %d CPUs, though %s could hold them", h, n, narrower)
			}
		}
	}
}

func drawPod(t *rapid.T, i int) *corev1.Pod {
	var containers []corev1.Container
	for n := range rapid.IntRange(1, 2).Draw(t, "containers") {
		containers = append(containers, container(fmt.Sprintf("c%d", n), fmt.Sprint(rapid.IntRange(1, 12).Draw(t, "cpus"))))
	}
	return newPod(fmt.Sprintf("p%d", i), containers...)
}
