//go:build e2e

// Package e2e runs the real binary on real kernels: each machine boots once and
// runs every job of jobs/ that suits it.
package e2e

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kqos/kqos/internal/cgroups/driver"
	"github.com/kqos/kqos/test/e2e/vm"
)

// guest is a machine and the jobs that it runs, one after the other.
type guest struct {
	name    string
	machine vm.Machine
	jobs    []job
	// then are the jobs of a second boot of the same disk.
	then []job
}

// script is what a boot runs.
func (g guest) script(boot int) string { return fmt.Sprintf("run-%s-%d.sh", g.name, boot) }

// job is a script of jobs/ under one cgroup driver.
type job struct{ driver, script string }

func (j job) String() string { return strings.TrimSuffix(j.script, ".sh") + " with driver " + j.driver }

// under names jobs of one driver.
func under(driver string, scripts ...string) []job {
	var jobs []job
	for _, script := range scripts {
		jobs = append(jobs, job{driver, script})
	}
	return jobs
}

// guests is the boot matrix.
func guests() []guest {
	small := vm.Machine{Sockets: 1, Cores: 4, Threads: 1, MemoryMiB: 2048}
	two := vm.Machine{Sockets: 2, Cores: 2, Threads: 1, NUMA: 2, MemoryMiB: 2048}
	huge := vm.Machine{Sockets: 2, Cores: 2, Threads: 2, NUMA: 2, MemoryMiB: 2048, Kernel: "hugepages=0:64,1:32"}
	v1 := func(m vm.Machine) vm.Machine {
		m.Kernel = vm.V1
		return m
	}
	tree := []string{
		"tree.sh", "drift.sh", "watch.sh", "remove.sh", "kill.sh", "oom.sh", "foreign.sh",
		"reserved.sh", "classify.sh",
	}
	withSystemd := slices.Concat(under(driver.Systemd, "system.sh", "deployed.sh", "packages.sh"), under(driver.Systemd, tree...))
	once := func(name string, m vm.Machine, jobs []job) guest { return guest{name: name, machine: m, jobs: jobs} }
	rebooted := func(name string, m vm.Machine) guest {
		return guest{name, m, under(driver.Systemd, "reboot.sh"), under(driver.Systemd, "rebooted.sh")}
	}
	lacking := small
	lacking.Kernel = "cgroup_disable=pids"
	return []guest{
		once("v2-systemd", small, withSystemd),
		once("v1-systemd", v1(small), withSystemd),
		once("v2-cgroupfs", small, under(driver.Cgroupfs, tree...)),
		once("v1-cgroupfs", v1(small), under(driver.Cgroupfs, tree...)),
		once("node-v2", two, under(driver.Systemd, "collect.sh", "daemonset.sh")),
		once("node-v1", v1(two), under(driver.Systemd, "collect.sh", "daemonset.sh")),
		once("numa-hugepages", huge, under(driver.Systemd, "machine.sh", "hugepages.sh")),
		rebooted("reboot-v2", small),
		rebooted("reboot-v1", v1(small)),
		once("lacking-pids", lacking, slices.Concat(under(driver.Systemd, "missing.sh"), under(driver.Cgroupfs, "missing.sh"))),
	}
}

// TestMachines runs the jobs that KQOS_E2E_JOBS names, all without it.
func TestMachines(t *testing.T) {
	img := image(t)
	folder := jobFolder(t)
	addPackages(t, folder)
	only := strings.Fields(os.Getenv("KQOS_E2E_JOBS"))
	// Two emulated machines fill two cores, while each waits now and then.
	slots := make(chan struct{}, 2)
	booted := 0
	for _, g := range guests() {
		if len(only) > 0 {
			g.jobs = slices.DeleteFunc(g.jobs, func(j job) bool { return !slices.Contains(only, j.script) })
		}
		if len(g.jobs) == 0 {
			continue
		}
		booted++
		// All before any machine takes a copy of the folder.
		writeRunner(t, filepath.Join(folder, g.script(0)), g.jobs)
		writeRunner(t, filepath.Join(folder, g.script(1)), g.then)
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			out := t.TempDir()
			run(t, img, g, folder, out)
			checkArchives(t, folder, out)
		})
	}
	if booted == 0 {
		t.Fatalf("no machine runs any of KQOS_E2E_JOBS=%q", only)
	}
}

// image is the guests' file system and kernel, made once for all runs.
func image(t *testing.T) vm.Image {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("building the guest's file system needs root")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	img, err := vm.Build(t.Context(), filepath.Join(cache, "kqos-e2e"))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// run boots a guest for its jobs, and once more for those that come then.
func run(t *testing.T, img vm.Image, g guest, folder, out string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Minute)
	defer cancel()
	if len(g.then) > 0 {
		var err error
		if img, err = img.Copy(ctx, t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	for boot, jobs := range [][]job{g.jobs, g.then} {
		if len(jobs) == 0 {
			continue
		}
		var said strings.Builder
		err := vm.Run(ctx, img, g.machine, folder, g.script(boot), out, io.MultiWriter(&said, t.Output()))
		if err != nil {
			t.Error(err)
		}
		for _, j := range jobs {
			if !strings.Contains(said.String(), "PASS "+j.String()+" ") {
				t.Errorf("%s did not pass", j)
			}
		}
	}
}

// jobFolder holds the binary, the jobs and the example node.
func jobFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, main := range map[string]string{"kqos": "cmd/kqos", "kubelet": "test/e2e/kubelet", "podsapi": "test/e2e/podsapi"} {
		build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(folder, name), "github.com/kqos/kqos/"+main)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v: %s", name, err, out)
		}
	}
	for from, to := range map[string]string{"jobs": "", "../../deploy": "deploy"} {
		if err := os.CopyFS(filepath.Join(folder, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// addPackages puts the packages of a release of the last commit beside the jobs.
func addPackages(t *testing.T, folder string) {
	t.Helper()
	dist := t.TempDir()
	release := exec.Command("go", "run", ".", "-root", "..", "-out", dist, "-targets", "linux/amd64")
	release.Dir = "../../release"
	if out, err := release.CombinedOutput(); err != nil {
		t.Fatalf("making packages: %v: %s", err, out)
	}
	for _, format := range []string{"deb", "rpm"} {
		found, err := filepath.Glob(filepath.Join(dist, "*."+format))
		if err != nil || len(found) != 1 {
			t.Fatalf("%q are not one package: %v", found, err)
		}
		if err := os.Rename(found[0], filepath.Join(folder, "kqos."+format)); err != nil {
			t.Fatal(err)
		}
	}
}

// writeRunner makes one script of all jobs, each in a process of its own and
// with nothing left over from the one before.
func writeRunner(t *testing.T, path string, jobs []job) {
	t.Helper()
	text := `failed=0
run() {
	if DRIVER=$1 timeout 1800 sh ./$2; then echo "PASS $3 at $(cut -d' ' -f1 /proc/uptime) s"; else echo "FAIL $3"; failed=1; fi
}
clean() { timeout 300 sh -x ./clean.sh >clean.log 2>&1 || { echo "not clean:"; cat clean.log; }; }
`
	for i, j := range jobs {
		if i > 0 {
			text += "clean\n"
		}
		text += fmt.Sprintf("run %s %s '%s'\n", j.driver, j.script, j)
	}
	if err := os.WriteFile(path, []byte(text+"exit $failed\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}
