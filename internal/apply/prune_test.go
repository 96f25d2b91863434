package apply

import (
	"strings"
	"testing"
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
