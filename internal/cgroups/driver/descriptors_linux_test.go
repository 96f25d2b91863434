package driver

import (
	"fmt"
	"os"
	"testing"

	"github.com/kqos/kqos/internal/cgroups"
)

// A second look at the controllers opens nothing, and one of a cgroup that was
// made anew sees that one's.
func TestControllersStayOpen(t *testing.T) {
	d, root := openUnified(t)
	at := root + "/parent"
	look := func() {
		t.Helper()
		if _, _, err := d.Controllers(at); err != nil {
			t.Fatal(err)
		}
	}
	if available, _, err := d.Controllers(at); available != nil || err != nil {
		t.Errorf("one that is not there: %v, %v", available, err)
	}
	for range 3 {
		if err := os.Mkdir(d.folder(at), 0o755); err != nil {
			t.Fatal(err)
		}
		look()
		open := d.files.open
		first := d.files.groups[at].files[subtreeControl]
		look()
		if d.files.open != open || open != 2 || d.files.groups[at].files[subtreeControl] != first {
			t.Errorf("%d files are open after a second look, %d after the first, want the same 2", d.files.open, open)
		}
		if err := os.Remove(d.folder(at)); err != nil {
			t.Fatal(err)
		}
	}
	if available, _, err := d.Controllers(at); available != nil || err != nil {
		t.Errorf("one that is gone: %v, %v", available, err)
	}
	if err := d.Create(&cgroups.Cgroup{Path: at}); err != nil {
		t.Fatal(err)
	}
	look()
}

// Files of cgroups that others remove, and that nobody reads again, do not pile up
// in a watch that runs for long.
func TestFilesOfWhatIsGone(t *testing.T) {
	d, root := openUnified(t)
	files := map[string]string{"cgroup.events": "", "cgroup.max.depth": "", "cgroup.stat": ""}
	stays := &cgroups.Cgroup{Path: root, Files: files}
	for n := range 1000 {
		passing := &cgroups.Cgroup{Path: fmt.Sprintf("%s/pod%d", root, n), Files: files}
		if err := os.Mkdir(d.folder(passing.Path), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, cg := range []*cgroups.Cgroup{stays, passing} {
			if live, err := d.Read(cg); err != nil || len(live.Files) != len(files) {
				t.Fatalf("%v, %v", live.Files, err)
			}
		}
		if err := os.Remove(d.folder(passing.Path)); err != nil {
			t.Fatal(err)
		}
		if d.files.open > sweepFrom {
			t.Fatalf("%d files are open after %d cgroups came and went", d.files.open, n+1)
		}
	}
	if _, kept := d.files.groups[root]; !kept {
		t.Error("the files of a cgroup that is there were closed")
	}
}
