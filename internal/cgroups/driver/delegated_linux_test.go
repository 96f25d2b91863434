package driver

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kqos/kqos/internal/cgroups"
)

// Delegated sees either attribute in any hierarchy: systemd marks its own alone.
func TestDelegated(t *testing.T) {
	d, root := open(t)
	folders := d.folders(root)
	for _, tt := range []struct {
		name, value string
		want        bool
	}{
		{"trusted.delegate", "1", true},
		{"user.delegate", "1", true},
		{"trusted.delegate", "0", false},
		{"trusted.other", "1", false},
	} {
		for _, folder := range folders {
			if err := unix.Lsetxattr(folder, tt.name, []byte(tt.value), 0); err != nil {
				t.Fatal(err)
			}
			if got, err := d.Delegated(root); err != nil || got != tt.want {
				t.Errorf("%s=%s on %s: %v, %v; want %v", tt.name, tt.value, folder, got, err, tt.want)
			}
			if err := unix.Lremovexattr(folder, tt.name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, err := d.Delegated(root + "/none"); err != nil || got {
		t.Errorf("one that is not there: %v, %v", got, err)
	}
	if _, err := d.Delegated(root + "/.."); err == nil {
		t.Error("a path that leads out passed")
	}
}

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
