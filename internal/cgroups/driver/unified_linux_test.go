package driver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	oc "github.com/opencontainers/cgroups"
	"golang.org/x/sys/unix"

	"github.com/kqos/kqos/internal/cgroups"
)

// openUnified gives a driver of a v2 hierarchy, which a hybrid host has too
// though without controllers, and a cgroup root of its own there.
func openUnified(t *testing.T) (*Driver, string) {
	t.Helper()
	if oc.IsCgroup2UnifiedMode() {
		return open(t)
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root: it makes cgroups on this host")
	}
	mount := mountpoint + "/unified"
	if _, err := os.Stat(mount + "/cgroup.controllers"); err != nil {
		t.Skip("needs a v2 hierarchy: this host has none")
	}
	d := &Driver{kind: Cgroupfs, mounts: map[string]string{"": mount}, files: newDescriptors()}
	folder := fmt.Sprintf("%s/kqos-test-%08x", mount, rand.Uint32())
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := oc.RemovePath(folder); err != nil {
			t.Errorf("removing the test's own root: %v", err)
		}
		d.Close()
	})
	return d, "/" + filepath.Base(folder)
}

// Below a threaded cgroup, and beside a threaded child, memory can't be limited.
// kqos makes nothing there and leaves the type as it is.
func TestThreadedParent(t *testing.T) {
	d, root := openUnified(t)
	for _, at := range []string{root + "/a", root + "/a/threads"} {
		if err := d.Create(&cgroups.Cgroup{Path: at}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(d.folder(root+"/a/threads")+"/cgroup.type", []byte("threaded"), 0); err != nil {
		t.Fatal(err)
	}
	for parent, kind := range map[string]string{root + "/a": "domain threaded", root + "/a/threads": "threaded"} {
		err := d.Create(&cgroups.Cgroup{Path: parent + "/pod1"})
		if err == nil || !strings.Contains(err.Error(), "has cgroup.type \""+kind+"\", below which memory can't be limited") {
			t.Errorf("below %s: %v", parent, err)
		}
		if _, err := os.Stat(d.folder(parent + "/pod1")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("below %s something was made: %v", parent, err)
		}
		if now, err := d.ReadFile(parent, "cgroup.type"); err != nil || now != kind {
			t.Errorf("cgroup.type of %s reads %q, %v; want it left at %q", parent, now, err, kind)
		}
	}
}

// Controllers are only ever enabled, and one that the kernel lacks is named.
func TestControllersAreOnlyEnabled(t *testing.T) {
	d, root := openUnified(t)
	cg := &cgroups.Cgroup{Path: root}
	err := d.Set(cg, map[string]string{subtreeControl: "-cpu"})
	if err == nil || !strings.Contains(err.Error(), "only ever enabled") {
		t.Errorf("-cpu: %v", err)
	}
	err = d.Set(cg, map[string]string{subtreeControl: "+kqos"})
	if err == nil {
		t.Error("an unknown controller was enabled")
	}
}

func TestExplainEnable(t *testing.T) {
	for _, tt := range []struct {
		word string
		err  error
		want string
	}{
		{"+cpu", unix.EINVAL, "realtime threads live below it (RT_GROUP_SCHED)"},
		{"+memory", unix.EBUSY, "processes live in it itself"},
		{"+memory", unix.EOPNOTSUPP, "it is threaded (cgroup.type)"},
		{"+hugetlb", unix.ENOENT, "controller hugetlb is not available"},
		{"+pids", unix.EACCES, "permission denied"},
	} {
		err := explainEnable("/kube", tt.word, &os.PathError{Op: "write", Path: "x", Err: tt.err})
		if err == nil || !strings.HasPrefix(err.Error(), "enabling "+tt.word+" below cgroup /kube: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, %v: %v, want %q", tt.word, tt.err, err, tt.want)
		}
	}
	if err := explainEnable("/", "+cpu", nil); err != nil {
		t.Error(err)
	}
}

// On a hybrid host a controller may live in the half where a kubelet on v1 does
// not look; that is another fault than not to have it at all.
func TestControllerOfTheOtherHierarchy(t *testing.T) {
	d := &Driver{kind: Cgroupfs, primary: "memory", mounts: map[string]string{"memory": "/nowhere"}, missing: map[string]bool{"pids": true}}
	for file, want := range map[string]string{
		"pids/pids.max":      "controller pids is in the v2 hierarchy of this hybrid host",
		"cpuset/cpuset.cpus": "controller cpuset is not available",
	} {
		cg := &cgroups.Cgroup{Path: "/kubepods"}
		err := d.Set(cg, map[string]string{file: "1"})
		missing := &ControllerMissingError{}
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), want) {
			t.Errorf("writing %s: %v, want %q", file, err, want)
		}
		if _, err := d.ReadFile("/", file); !errors.As(err, &missing) {
			t.Errorf("reading %s: %v", file, err)
		}
	}
}

// What the kernel says when a control file can't be written is told with what
// to do about it.
func TestExplain(t *testing.T) {
	d := &Driver{kind: Cgroupfs, mounts: map[string]string{"": t.TempDir()}}
	for err, want := range map[error]string{
		unix.ENODEV: "the cgroup is gone", unix.ENOENT: "the cgroup is gone",
		unix.EROFS: "mount it writable at /sys/fs/cgroup", unix.EACCES: "permission denied", unix.EBUSY: "busy",
	} {
		if got := d.explain("/kubepods", &os.PathError{Op: "write", Path: "x", Err: err}); got == nil || !strings.Contains(got.Error(), want) {
			t.Errorf("%v: %v, want %q", err, got, want)
		}
	}
}
