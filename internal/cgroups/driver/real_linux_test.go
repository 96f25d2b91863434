package driver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	oc "github.com/opencontainers/cgroups"
	"golang.org/x/sys/unix"

	"github.com/kqos/kqos/internal/cgroups"
)

// open gives a cgroupfs driver and a cgroup root of its own on the real host.
// The root is removed again after the test, with all that it holds.
func open(t testing.TB) (*Driver, string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it makes cgroups on this host")
	}
	version := 1
	if oc.IsCgroup2UnifiedMode() {
		version = 2
	}
	d, err := Open(Options{Kind: "cgroupfs", Version: version, HostRoot: "/"})
	if err != nil {
		t.Fatal(err)
	}
	root := fmt.Sprintf("/kqos-test-%08x", rand.Uint32())
	if err := d.Create(&cgroups.Cgroup{Path: root}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := oc.RemovePaths(d.paths(root)); err != nil {
			t.Errorf("removing the test's own root: %v", err)
		}
		d.Close()
	})
	return d, root
}

func pod(d *Driver, root string) *cgroups.Cgroup {
	cg := &cgroups.Cgroup{Path: root + "/pod1", Files: map[string]string{
		"cpu.weight": "39", "cpu.max": "20000 100000", "memory.max": "268435456", "pids.max": "100",
	}}
	if !d.v2() {
		cg.Files = map[string]string{
			"cpu/cpu.shares": "1024", "cpu/cpu.cfs_quota_us": "20000", "cpu/cpu.cfs_period_us": "100000",
			"memory/memory.limit_in_bytes": "268435456", "pids/pids.max": "100",
		}
	}
	return cg
}

func TestCreateSetRead(t *testing.T) {
	d, root := open(t)
	cg := pod(d, root)
	if live, err := d.Read(cg); err != nil || live.Exists {
		t.Fatalf("before: %+v, %v", live, err)
	}
	if d.v2() {
		for _, at := range []string{"/", root} {
			if err := d.Set(&cgroups.Cgroup{Path: at}, map[string]string{subtreeControl: "+cpu +memory +pids"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := d.Create(cg); err != nil {
		t.Fatal(err)
	}
	if err := d.Set(cg, cg.Files); err != nil {
		t.Fatal(err)
	}
	want := cgroups.Live{Exists: true, Marked: true, Files: cg.Files, PageSize: uint64(os.Getpagesize())}
	for range 2 { // the second from open descriptors
		live, err := d.Read(cg)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, live); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if err := d.Create(cg); err != nil {
		t.Errorf("creating what exists: %v", err)
	}
}

// A cgroup that is removed and made anew behind the driver's open descriptors
// is seen as what it now is: another's.
func TestReadNoticesReplacement(t *testing.T) {
	d, root := open(t)
	cg := pod(d, root)
	if err := d.Create(cg); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Read(cg); err != nil {
		t.Fatal(err)
	}
	if err := oc.RemovePaths(d.paths(cg.Path)); err != nil {
		t.Fatal(err)
	}
	if live, err := d.Read(cg); err != nil || live.Exists {
		t.Fatalf("after removal: %+v, %v", live, err)
	}
	for _, folder := range d.folders(cg.Path) {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	live, err := d.Read(cg)
	if err != nil || !live.Exists || live.Marked {
		t.Errorf("after another made it: exists %v, marked %v, %v", live.Exists, live.Marked, err)
	}
}

// A kqos killed between the steps of Create leaves a cgroup that the next one
// knows as its own and completes.
func TestCreateAfterKill(t *testing.T) {
	d, root := open(t)
	cg := pod(d, root)
	folders := d.folders(cg.Path)
	for made := range len(folders) + 1 {
		if err := d.intend(cg.Path); err != nil {
			t.Fatal(err)
		}
		for i, folder := range folders[:made] {
			if err := os.Mkdir(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			if i%2 == 1 {
				if err := d.setMarks([]string{folder}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if live, err := d.Read(cg); err != nil || live.Exists {
			t.Fatalf("%d folders made: a half-made cgroup reads %+v, %v; want it to be made again", made, live, err)
		}
		if err := d.Create(cg); err != nil {
			t.Fatal(err)
		}
		live, err := d.Read(cg)
		if err != nil || !live.Exists || !live.Marked {
			t.Errorf("%d folders made: exists %v, marked %v, %v", made, live.Exists, live.Marked, err)
		}
		if err := d.Remove(cg); err != nil {
			t.Fatal(err)
		}
	}
}

// A Create that fails midway leaves what it made marked, though another cgroup
// is made beside it before the next try.
func TestCreateAfterFailure(t *testing.T) {
	d, root := open(t)
	if d.v2() {
		t.Skip("needs v1: a v2 cgroup is one folder, made at once")
	}
	cg := pod(d, root)
	all := d.mounts
	t.Cleanup(func() { d.mounts = all })
	d.mounts = map[string]string{"cpu": all["cpu"], d.primary: all[d.primary], "pids": "/proc"}
	if err := d.Create(cg); err == nil {
		t.Fatal("a hierarchy that is not there passed")
	}
	d.mounts = all
	if err := d.Create(&cgroups.Cgroup{Path: root + "/other"}); err != nil {
		t.Fatal(err)
	}
	if live, err := d.Read(cg); err != nil || live.Exists || !live.Marked {
		t.Errorf("half-made: exists %v, marked %v, %v; want it known as kqos's own", live.Exists, live.Marked, err)
	}
	if err := d.Create(cg); err != nil {
		t.Fatal(err)
	}
	if live, err := d.Read(cg); err != nil || !live.Exists || !live.Marked {
		t.Errorf("made whole: exists %v, marked %v, %v", live.Exists, live.Marked, err)
	}
}

func TestCreateKeepsForeignOwner(t *testing.T) {
	d, root := open(t)
	cg := pod(d, root)
	if err := os.Mkdir(d.folder(cg.Path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := d.Create(cg); err != nil {
		t.Fatal(err)
	}
	live, err := d.Read(cg)
	if err != nil || !live.Exists || live.Marked {
		t.Errorf("exists %v, marked %v, %v; want another's", live.Exists, live.Marked, err)
	}
	if err := d.Remove(cg); err == nil || !strings.Contains(err.Error(), "was not made by kqos") {
		t.Errorf("removing another's cgroup: %v", err)
	}
}

func TestRemoveSparesProcessesAndForeignChildren(t *testing.T) {
	d, root := open(t)
	cg := pod(d, root)
	if err := d.Create(cg); err != nil {
		t.Fatal(err)
	}
	below := d.folder(cg.Path) + "/scope"
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := d.Remove(cg); err == nil || !strings.Contains(err.Error(), "was not made by kqos") {
		t.Errorf("with a foreign child: %v", err)
	}
	if err := d.setMarks([]string{below}); err != nil {
		t.Fatal(err)
	}
	sleep := exec.Command("sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	if err := oc.WriteCgroupProc(below, sleep.Process.Pid); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("process %d lives in %s/scope", sleep.Process.Pid, cg.Path)
	if err := d.Remove(cg); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("with a process below: %v, want %s", err, want)
	}
	if err := sleep.Process.Signal(unix.Signal(0)); err != nil {
		t.Errorf("the process is gone: %v", err)
	}
	_ = sleep.Process.Kill()
	_ = sleep.Wait()
	if err := d.Remove(cg); err != nil {
		t.Errorf("empty and marked: %v", err)
	}
	if live, err := d.Read(cg); err != nil || live.Exists {
		t.Errorf("after removal: %+v, %v", live, err)
	}
	if err := d.Remove(cg); err != nil {
		t.Errorf("removing what is gone: %v", err)
	}
}

func TestKeep(t *testing.T) {
	d, root := open(t)
	cg := pod(d, root)
	if text, err := d.Recall(cg.Path); text != "" || err != nil {
		t.Errorf("of a cgroup that is not there: %q, %v", text, err)
	}
	if err := os.Mkdir(d.folder(cg.Path), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{}", strings.Repeat("x", 4000)} {
		if err := d.Keep(cg.Path, text); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Recall(cg.Path); got != text || err != nil {
			t.Errorf("kept %d bytes, recalled %d, %v", len(text), len(got), err)
		}
	}
	if live, err := d.Read(cg); err != nil || live.Marked {
		t.Errorf("what is kept on another's cgroup makes it kqos's: %v, %v", live, err)
	}
}

func TestLock(t *testing.T) {
	d, root := open(t)
	release, err := d.Lock(context.Background(), root)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 120*time.Millisecond)
	defer cancel()
	if _, err = d.Lock(ctx, root); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("second lock: %v, want it to wait in vain", err)
	}
	release()
	release, err = d.Lock(context.Background(), root)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if _, err := d.Lock(context.Background(), root+"/none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("locking a root that does not exist: %v", err)
	}
}

func TestSetErrors(t *testing.T) {
	d, root := open(t)
	cg := pod(d, root)
	key := "memory.max"
	if !d.v2() {
		key = "memory/memory.limit_in_bytes"
	}
	if err := d.Set(cg, map[string]string{key: "1048576"}); !errors.Is(err, errGone) {
		t.Errorf("a vanished cgroup: %v, want errGone", err)
	}
	for _, bad := range []string{root + "/..", root + "/a\nb", "x"} {
		at := &cgroups.Cgroup{Path: bad}
		if err := d.Create(at); err == nil {
			t.Errorf("Create(%q) passed", bad)
		}
		if err := d.Set(at, map[string]string{key: "1"}); err == nil {
			t.Errorf("Set(%q) passed", bad)
		}
		if err := d.Remove(at); err == nil {
			t.Errorf("Remove(%q) passed", bad)
		}
	}
}

func TestOpenRefusesRelocatedRoot(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(dir+"/sys/fs/cgroup", 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Open(Options{Kind: "cgroupfs", Version: 1, HostRoot: dir})
	if err == nil || !strings.Contains(err.Error(), "only a live host's tree") {
		t.Errorf("got %v", err)
	}
}

func TestNoLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(dir+"/a/b", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/", dir+"/a/link"); err != nil {
		t.Fatal(err)
	}
	if err := noLinks(dir, "/a/b/absent"); err != nil {
		t.Errorf("plain folders: %v", err)
	}
	if err := noLinks(dir, "/a/link/tmp"); err == nil {
		t.Error("a symlink in the way passed")
	}
}
