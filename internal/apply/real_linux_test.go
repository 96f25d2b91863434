package apply

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	oc "github.com/opencontainers/cgroups"
	"golang.org/x/sys/unix"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/cgroups/driver"
)

// realHost gives a cgroupfs driver and a cgroup root of its own on this host,
// which is removed after the test.
func realHost(t testing.TB) (d *driver.Driver, root string, version int) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it makes cgroups on this host")
	}
	version = hostVersion()
	d, err := driver.Open(driver.Options{Kind: driver.Cgroupfs, Version: version, HostRoot: "/"})
	if err != nil {
		t.Fatal(err)
	}
	root = fmt.Sprintf("/kqos-test-%08x", rand.Uint32())
	top := cgroups.Tree{Cgroups: []cgroups.Cgroup{{Path: root, Level: cgroups.LevelNode}}}
	p, err := Make(top, d, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Execute(context.Background(), d, quiet()); len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	t.Cleanup(func() {
		m, err := oc.GetCgroupMounts(true)
		if err != nil {
			t.Error(err)
		}
		for _, mount := range m {
			if err := oc.RemovePath(mount.Mountpoint + root); err != nil {
				t.Error(err)
			}
		}
		if oc.IsCgroup2HybridMode() {
			if err := oc.RemovePath("/sys/fs/cgroup/unified" + root); err != nil {
				t.Error(err)
			}
		}
		d.Close()
	})
	return d, root, version
}

func hostVersion() int {
	if oc.IsCgroup2UnifiedMode() {
		return 2
	}
	return 1
}

// realTree is node(n) below root in the files of the host's version.
func realTree(root string, version, n int) cgroups.Tree {
	tree := node(n)
	tree.Version = version
	for i := range tree.Cgroups {
		cg := &tree.Cgroups[i]
		cg.Path = root + cg.Path
		if version == 1 {
			cg.Files = v1Files(cg.Files)
		}
	}
	return tree
}

func v1Files(v2 map[string]string) map[string]string {
	files := map[string]string{}
	for file, value := range v2 {
		switch file {
		case "cpu.weight":
			files["cpu/cpu.shares"] = value + "0"
		case "cpu.max":
			quota, period, _ := strings.Cut(value, " ")
			files["cpu/cpu.cfs_quota_us"], files["cpu/cpu.cfs_period_us"] = quota, period
		case "memory.max":
			files["memory/memory.limit_in_bytes"] = value
		case "pids.max":
			files["pids/pids.max"] = value
		}
	}
	return files
}

func realPass(t testing.TB, tree cgroups.Tree, d *driver.Driver, o Options) (*Plan, *Result, string) {
	t.Helper()
	p, err := Make(tree, d, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	r := p.Execute(context.Background(), d, slog.New(slog.NewTextHandler(&log, nil)))
	return p, r, log.String()
}

func TestRealTree(t *testing.T) {
	d, root, version := realHost(t)
	tree := realTree(root, version, 20)
	_, r, _ := realPass(t, tree, d, Options{})
	if len(r.Errors) > 0 || r.Created != 23 {
		t.Fatalf("first: %+v", r)
	}
	p, r, _ := realPass(t, tree, d, Options{})
	if len(p.Changes()) > 0 || r.Writes != 0 {
		t.Fatalf("second: %v", p.Changes())
	}

	drifted := root + "/kubepods/burstable/podu7"
	file := "pids.max"
	if version == 1 {
		file = "pids/pids.max"
	}
	if err := d.Set(&cgroups.Cgroup{Path: drifted}, map[string]string{file: "77"}); err != nil {
		t.Fatal(err)
	}
	_, r, log := realPass(t, tree, d, Options{})
	want := fmt.Sprintf("path=%s file=%s from=77 to=100", drifted, file)
	if r.Writes != 1 || r.Updated != 1 || !strings.Contains(log, want) {
		t.Errorf("repair: %+v, log %s, want %s", r, log, want)
	}

	smaller := realTree(root, version, 5)
	_, r, _ = realPass(t, smaller, d, Options{Prune: true})
	if r.Removed != 15 || len(r.Errors) > 0 {
		t.Errorf("prune: %+v", r)
	}
	_, r, _ = realPass(t, smaller, d, Options{Remove: true})
	if r.Removed != 8 || len(r.Errors) > 0 {
		t.Errorf("remove: %+v", r)
	}
}

func TestRealProcessSurvivesPruneAndRemove(t *testing.T) {
	d, root, version := realHost(t)
	tree := realTree(root, version, 1)
	if _, r, _ := realPass(t, tree, d, Options{}); len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	sleep := exec.Command("sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sleep.Process.Kill(); _ = sleep.Wait() })
	folder := "/sys/fs/cgroup"
	if version == 1 {
		folder += "/pids"
	}
	folder += tree.Cgroups[3].Path
	if err := oc.WriteCgroupProc(folder, sleep.Process.Pid); err != nil {
		t.Fatal(err)
	}
	p, r, _ := realPass(t, realTree(root, version, 0), d, Options{Prune: true})
	if r.Removed != 0 || len(p.Withheld) != 1 {
		t.Errorf("prune: %+v, withheld %v", r, p.Withheld)
	}
	if _, r, _ = realPass(t, tree, d, Options{Remove: true}); r.Removed != 1 {
		t.Errorf("remove: %+v, want besteffort alone", r)
	}
	if pids, err := oc.GetPids(folder); err != nil || len(pids) != 1 {
		t.Errorf("the process: %v, %v", pids, err)
	}
	_ = sleep.Process.Kill()
	_ = sleep.Wait()
}

// holdVariable tells TestRealRefusedLimit, run anew in the cgroup, to hold memory.
const holdVariable = "KQOS_TEST_HOLD"

// holdMemory has 48 MiB in use until it is killed, and says so once it has.
func holdMemory(t *testing.T) {
	t.Helper()
	if _, err := unix.Mmap(-1, 0, 48<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_POPULATE); err != nil {
		t.Fatal(err)
	}
	fmt.Println("full")
	time.Sleep(100 * time.Second)
}

// The v1 kernel refuses a memory limit below what is in use. The report says so
// in kqos's words, nobody is killed, and the next apply succeeds once it can.
func TestRealRefusedLimit(t *testing.T) {
	if os.Getenv(holdVariable) != "" {
		holdMemory(t)
		return
	}
	d, root, version := realHost(t)
	if version == 2 {
		t.Skip("needs cgroup v1: v2 reclaims and kills instead, which test/e2e tries in a machine of its own")
	}
	const file = "memory/memory.limit_in_bytes"
	tree := cgroups.Tree{Version: 1, Cgroups: []cgroups.Cgroup{
		{Path: root + "/tier", Level: cgroups.LevelQoS, Files: map[string]string{file: "134217728"}},
	}}
	if _, r, _ := realPass(t, tree, d, Options{}); len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	folder := "/sys/fs/cgroup/memory" + root + "/tier"
	// With no swappiness the kernel swaps nothing out, so a host with swap refuses too.
	if err := os.WriteFile(folder+"/memory.swappiness", []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	hog := exec.Command("sh", "-c", `echo $$ >"$0/cgroup.procs"; exec "$1" -test.run '^TestRealRefusedLimit$'`, folder, os.Args[0])
	hog.Env = append(os.Environ(), holdVariable+"=1")
	out, err := hog.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := hog.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hog.Process.Kill(); _ = hog.Wait() })
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatalf("waiting for the memory to be in use: %v", err)
	}
	tree.Cgroups[0].Files[file] = "8388608"
	_, r, log := realPass(t, tree, d, Options{})
	if len(r.Errors) != 1 {
		t.Fatalf("errors %v, log %s", r.Errors, log)
	}
	said := r.Errors[0].Error()
	for _, want := range []string{file + " of cgroup " + root + "/tier: ", " in use, more than the new limit 8388608, and the kernel can't reclaim it (EBUSY)", "end or shrink what runs there", "as the kubelet sets it"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q lacks %q", said, want)
		}
	}
	if strings.Contains(said, "unable to set memory limit") {
		t.Errorf("the library's words: %s", said)
	}
	if limit, err := d.ReadFile(root+"/tier", file); err != nil || limit == "134217728" || limit == "8388608" {
		t.Errorf("the limit reads %s, %v; want what was in use", limit, err)
	}
	if err := hog.Process.Signal(unix.Signal(0)); err != nil {
		t.Errorf("the process is gone: %v", err)
	}
	_ = hog.Process.Kill()
	_ = hog.Wait()
	if _, r, _ = realPass(t, tree, d, Options{}); len(r.Errors) > 0 || r.Writes != 1 {
		t.Errorf("once it could: %+v, %v", r, r.Errors)
	}
}
