package apply

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kqos/kqos/internal/cgroups"
)

func TestApplyIsIdempotent(t *testing.T) {
	f := newFake()
	_, result, err := pass(node(3), f, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Result{Created: 6, Updated: 1}, result, cmp.FilterPath(func(p cmp.Path) bool {
		return p.Last().String() == ".Writes"
	}, cmp.Ignore())); diff != "" {
		t.Errorf("first (-want +got):\n%s", diff)
	}
	ops := f.ops
	p, result, err := pass(node(3), f, Options{}, nil)
	if err != nil || len(p.Changes()) > 0 {
		t.Errorf("second: %v, changes %v", err, p.Changes())
	}
	if diff := cmp.Diff(&Result{Unchanged: 6}, result); diff != "" {
		t.Errorf("second (-want +got):\n%s", diff)
	}
	if f.ops != ops {
		t.Errorf("second pass did %d operations", f.ops-ops)
	}
}

func TestOnlyWhatDiffersIsWritten(t *testing.T) {
	f := newFake()
	if _, _, err := pass(node(3), f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	f.groups["/kubepods/burstable/podu1"].files["cpu.weight"] = "77"
	f.writes = nil
	if _, _, err := pass(node(3), f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/kubepods/burstable/podu1 cpu.weight=4"}, f.writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// converges applies until nothing differs, and says whether it does so at once.
func converges(t *testing.T, f *fake, tree cgroups.Tree) {
	t.Helper()
	f.failAt, f.killAt, f.dead = 0, 0, false
	if _, result, err := pass(tree, f, Options{}, nil); err != nil || len(result.Errors) > 0 {
		t.Errorf("next run: %v, %v", err, result.Errors)
	}
	p, err := Make(tree, f, Options{}, nil)
	if err != nil || len(p.Changes()) > 0 {
		t.Errorf("after the next run: %v, still %v", err, p.Changes())
	}
}

func TestEachOperationFails(t *testing.T) {
	tree := node(50)
	count := newFake()
	if _, _, err := pass(tree, count, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	errnos := []error{syscall.EBUSY, syscall.EINVAL, syscall.ENOSPC, syscall.EACCES, syscall.EINTR, syscall.ENODEV}
	for k := 1; k <= count.ops; k++ {
		f := newFake()
		f.failAt, f.err = k, fmt.Errorf("operation %d: %w", k, errnos[k%len(errnos)])
		_, result, err := pass(tree, f, Options{}, nil)
		if err != nil {
			t.Fatalf("operation %d: planning failed: %v", k, err)
		}
		for _, e := range result.Errors {
			if !strings.Contains(e.Error(), "cgroup") && !strings.Contains(e.Error(), "operation") {
				t.Errorf("operation %d: unclear error %v", k, e)
			}
		}
		converges(t, f, tree)
		if t.Failed() {
			t.Fatalf("operation %d", k)
		}
	}
}

func TestKilledAtEachOperation(t *testing.T) {
	tree := node(50)
	count := newFake()
	if _, _, err := pass(tree, count, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	for k := 1; k <= count.ops; k++ {
		f := newFake()
		f.killAt = k
		_, _, _ = pass(tree, f, Options{}, nil)
		converges(t, f, tree)
		if t.Failed() {
			t.Fatalf("killed at operation %d", k)
		}
	}
}

// A pod whose cgroup can't be made keeps back its own files, and no other pod.
func TestFailureKeepsBackOnlyWhatNeedsIt(t *testing.T) {
	f := newFake()
	f.err = syscall.ENOSPC
	f.before = func(op, at string) {
		if op == "create" && at == "/kubepods/burstable/podu0" {
			f.failAt = f.ops + 1
		}
	}
	_, result, err := pass(node(3), f, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if result.Failed != 1 || result.Created != 5 {
		t.Errorf("got %+v, want 5 created and 1 failed", result)
	}
	if _, ok := f.groups["/kubepods/burstable/podu2"]; !ok {
		t.Error("the third pod was not made")
	}
}

// One file that the kernel refuses keeps back no other of the same cgroup.
func TestRefusedFileIsWrittenAround(t *testing.T) {
	f := newFake()
	if _, _, err := pass(node(1), f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	g := f.groups["/kubepods"]
	g.files["cpu.weight"], g.files["pids.max"] = "1", "5"
	f.err = syscall.EINVAL
	n := 0
	f.before = func(string, string) {
		if n++; n <= 2 { // the joint write and then that of cpu.weight alone
			f.failAt = f.ops + 1
		}
	}
	_, result, err := pass(node(1), f, Options{}, nil)
	if err != nil || len(result.Errors) != 1 {
		t.Fatalf("%v, errors %v", err, result.Errors)
	}
	if g.files["pids.max"] != "1000" {
		t.Errorf("pids.max reads %s, want 1000", g.files["pids.max"])
	}
}

func TestVanishesMidway(t *testing.T) {
	f := newFake()
	gone := false
	f.before = func(op, at string) {
		if op == "set" && at == "/kubepods/burstable/podu0" && !gone {
			gone = true
			delete(f.groups, at)
		}
	}
	_, result, err := pass(node(3), f, Options{}, nil)
	if err != nil || result.Failed != 1 {
		t.Fatalf("%v, %+v", err, result)
	}
	f.before = nil
	converges(t, f, node(3))
}

// A cgroup that another makes between plan and creation is the other's, and so
// is what it holds.
func TestAppearsMidway(t *testing.T) {
	f := newFake()
	f.before = func(op, at string) {
		if op == "create" && at == podPath {
			f.before = nil
			f.add(at, false).files["pids.max"] = "7"
		}
	}
	_, result, err := pass(node(3), f, Options{}, nil)
	if err != nil || result.Failed != 1 || len(result.Errors) != 1 || !strings.Contains(result.Errors[0].Error(), "another made it meanwhile") {
		t.Fatalf("%v, %+v, %v", err, result, result.Errors)
	}
	if g := f.groups[podPath]; g.marked || g.files["pids.max"] != "7" {
		t.Errorf("marked %v, pids.max %s: kqos wrote to another's cgroup", g.marked, g.files["pids.max"])
	}
	if f.groups["/kubepods/burstable/podu2"].files["pids.max"] != "100" {
		t.Error("the other pods were not made")
	}
	if p, _, _ := pass(node(3), f, Options{}, nil); len(p.Steps) != 0 || !strings.Contains(reasons(p), podPath+" pids.max: kqos did not make this cgroup") {
		t.Errorf("next run: %v, %s", p.Steps, reasons(p))
	}
}

func TestThousandPods(t *testing.T) {
	f := newFake()
	tree := node(1000)
	_, result, err := pass(tree, f, Options{}, nil)
	if err != nil || len(result.Errors) > 0 || result.Created != 1003 {
		t.Fatalf("%v, %+v", err, result)
	}
	converges(t, f, tree)
	for _, at := range []string{"/kubepods/burstable/podu0", "/kubepods/burstable/podu999"} {
		if f.groups[at].files["memory.max"] != "9998336" {
			t.Errorf("memory.max of %s reads %s", at, f.groups[at].files["memory.max"])
		}
	}
	if _, result, err = pass(node(0), f, Options{Prune: true}, nil); err != nil || result.Removed != 1000 {
		t.Errorf("%v, %+v", err, result)
	}
}

func TestStopsWhenTold(t *testing.T) {
	f := newFake()
	ctx, cancel := context.WithCancel(context.Background())
	f.before = func(string, string) {
		if f.ops == 3 {
			cancel()
		}
	}
	p, err := Make(node(10), f, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if result := p.Execute(ctx, f, quiet()); result.Failed == 0 || f.ops > 4 {
		t.Errorf("after the stop: %d operations, %+v", f.ops, result)
	}
	converges(t, f, node(10))
}
