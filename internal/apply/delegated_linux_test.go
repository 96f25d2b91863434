package apply

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kqos/kqos/internal/cgroups"
)

// On a real host a tier that bears systemd's attribute is another's, with all
// below it.
func TestRealDelegated(t *testing.T) {
	d, root, version := realHost(t)
	tree := realTree(root, version, 2)
	if _, r, _ := realPass(t, tree, d, Options{}); len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	file, mount := "pids.max", "/sys/fs/cgroup"
	if version == 1 {
		file, mount = "pids/pids.max", "/sys/fs/cgroup/pids"
	}
	drifted := root + "/kubepods/burstable/podu1"
	if err := d.Set(&cgroups.Cgroup{Path: drifted}, map[string]string{file: "77"}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Lsetxattr(mount+root+"/kubepods/burstable", "trusted.delegate", []byte("1"), 0); err != nil {
		t.Fatal(err)
	}
	p, r, _ := realPass(t, tree, d, Options{Adopt: true})
	want := drifted + " " + file + ": systemd has delegated " + root + "/kubepods/burstable"
	if r.Writes > 0 || !strings.Contains(reasons(p), want) {
		t.Errorf("%+v, reasons %s, want %s", r, reasons(p), want)
	}
	if err := unix.Lremovexattr(mount+root+"/kubepods/burstable", "trusted.delegate"); err != nil {
		t.Fatal(err)
	}
	if _, r, _ = realPass(t, tree, d, Options{}); r.Writes != 1 || len(r.Errors) > 0 {
		t.Errorf("taken back: %+v", r)
	}
}
