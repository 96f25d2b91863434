package apply

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// state copies what a fake host holds.
func state(f *fake) map[string]map[string]string {
	all := map[string]map[string]string{}
	for at, g := range f.groups {
		all[at] = map[string]string{}
		for file, value := range g.files {
			if !strings.HasPrefix(file, "cgroup.") && at != "/" {
				all[at][file] = value
			}
		}
	}
	return all
}

func TestUndo(t *testing.T) {
	f := newFake()
	if _, _, err := pass(node(2), f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	before := state(f)
	tree := node(4)
	tree.Cgroups[0].Files["pids.max"] = "2000"
	tree.Cgroups[3].Files["memory.max"] = "4096"
	saved, _, err := pass(tree, f, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := MakeUndo(tree, saved.Changes(), f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Execute(t.Context(), f, quiet()); len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	if diff := cmp.Diff(before, state(f)); diff != "" {
		t.Errorf("(-before +after the undo):\n%s", diff)
	}
	if p, err = MakeUndo(tree, saved.Changes(), f, Options{}); err != nil || len(p.Changes()) > 0 {
		t.Errorf("undoing twice: %v, %v", err, p.Changes())
	}
}

func TestUndoLeavesWhatOthersDid(t *testing.T) {
	f := newFake()
	if _, _, err := pass(node(0), f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	tree := node(1)
	tree.Cgroups[0].Files["pids.max"] = "2000"
	saved, _, err := pass(tree, f, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.groups["/kubepods"].files["pids.max"] = "5"
	f.groups["/kubepods/burstable/podu0"].procs = 1
	p, err := MakeUndo(tree, saved.Changes(), f, Options{})
	if err != nil || len(p.Steps) != 0 {
		t.Errorf("%v, %v", err, p.Steps)
	}
	for _, want := range []string{"it reads 5 now", "a process lives in /kubepods/burstable/podu0"} {
		if !strings.Contains(reasons(p), want) {
			t.Errorf("reasons lack %q:\n%s", want, reasons(p))
		}
	}
}
