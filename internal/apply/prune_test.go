package apply

import (
	"strings"
	"testing"

	"github.com/kqos/kqos/internal/cgroups"
)

func TestPrune(t *testing.T) {
	f := newFake()
	if _, _, err := pass(node(5), f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	pods := "/kubepods/burstable/pod"
	f.groups[pods+"u1"].procs = 1
	f.groups[pods+"u2"].marked = false
	f.add(pods+"u3/scope", false)
	f.add("/kubepods/burstable/other", true)
	p, result, err := pass(node(1), f, Options{Prune: true}, nil)
	if err != nil || result.Removed != 1 {
		t.Fatalf("%v, %+v", err, result)
	}
	for at, stays := range map[string]bool{
		pods + "u0": true, pods + "u1": true, pods + "u2": true, pods + "u3": true, pods + "u3/scope": true,
		pods + "u4": false, "/kubepods/burstable/other": true,
	} {
		if (f.groups[at] != nil) != stays {
			t.Errorf("%s stays: %v, want %v", at, !stays, stays)
		}
	}
	for _, want := range []string{"a process lives in " + pods + "u1", pods + "u2 was not made by kqos", "podu3/scope was not made by kqos"} {
		if !strings.Contains(reasons(p), want) {
			t.Errorf("reasons lack %q:\n%s", want, reasons(p))
		}
	}
}

// A process that arrives between plan and removal saves the cgroup.
func TestPruneChecksRightBefore(t *testing.T) {
	f := newFake()
	if _, _, err := pass(node(1), f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	f.before = func(op, at string) {
		if op == "remove" {
			f.groups[at].procs = 1
		}
	}
	_, result, err := pass(node(0), f, Options{Prune: true}, nil)
	if err != nil || len(result.Errors) != 1 || f.groups["/kubepods/burstable/podu0"] == nil {
		t.Errorf("%v, %+v", err, result)
	}
}

func TestRemove(t *testing.T) {
	f := newFake()
	if _, _, err := pass(node(3), f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	f.groups["/kubepods/burstable/podu1"].procs = 1
	p, result, err := pass(node(3), f, Options{Remove: true}, nil)
	if err != nil || result.Removed != 3 {
		t.Fatalf("%v, %+v", err, result)
	}
	if f.groups["/kubepods/burstable"] == nil || f.groups["/kubepods/besteffort"] != nil {
		t.Errorf("what is left: %v; %s", f.groups, reasons(p))
	}
	f.groups["/kubepods/burstable/podu1"].procs = 0
	if _, _, err = pass(node(3), f, Options{Remove: true}, nil); err != nil || len(f.groups) != 1 {
		t.Errorf("%v, left %d cgroups, want the root alone", err, len(f.groups))
	}
}

// What another made for a reservation was never of kqos's tree: leaving it is no
// failure. Of the rest of a tree that is another's, it is.
func TestRemoveLeavesForeignReserved(t *testing.T) {
	tree := node(1)
	tree.Cgroups = append(tree.Cgroups,
		cgroups.Cgroup{Path: "/kubelet.slice", Level: cgroups.LevelReserved, Files: map[string]string{"pids.max": "5"}},
		cgroups.Cgroup{Path: "/system.slice", Level: cgroups.LevelReserved, Files: map[string]string{"pids.max": "5"}})
	f := newFake()
	f.add("/system.slice", false)
	f.groups["/system.slice"].procs = 40
	if _, _, err := pass(tree, f, Options{CreateReserved: true}, nil); err != nil {
		t.Fatal(err)
	}
	p, result, err := pass(tree, f, Options{Remove: true}, nil)
	if err != nil || result.Removed != 5 || len(p.Withheld) != 0 {
		t.Errorf("%v, %+v, withheld %s", err, result, reasons(p))
	}
	if f.groups["/system.slice"] == nil || f.groups["/kubelet.slice"] != nil {
		t.Error("want /system.slice to stay and /kubelet.slice to go")
	}
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "/system.slice was not made by kqos: it stays") {
		t.Errorf("notes %q", p.Notes)
	}
}

func TestPodUID(t *testing.T) {
	for folder, want := range map[string]string{
		"pod1234": "1234", "kubepods-burstable-pod1_2.slice": "1-2", "kubepods-pod1.slice": "1",
		"pod": "", "podpod1": "", "burstable": "", "cri-containerd-1.scope": "", "kubepods.slice": "", "-.slice": "",
	} {
		if got, ok := podUID(folder); got != want || ok != (want != "") {
			t.Errorf("podUID(%q) = %q, %v", folder, got, ok)
		}
	}
}
