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

// guest is one boot: the machine, and the jobs that it runs.
type guest struct {
	name    string
	machine vm.Machine
	jobs    []job
}

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
	v1 := small
	v1.Kernel = vm.V1
	huge := vm.Machine{Sockets: 2, Cores: 2, Threads: 2, NUMA: 2, MemoryMiB: 2048, Kernel: "hugepages=0:64,1:32"}
	tree := []string{
		"tree.sh", "drift.sh", "watch.sh", "remove.sh", "kill.sh", "oom.sh", "foreign.sh",
		"reserved.sh", "classify.sh",
	}
	both := slices.Concat(under(driver.Systemd, tree...), under(driver.Systemd, "system.sh"), under(driver.Cgroupfs, tree...))
	return []guest{
		{"v2", small, both},
		{"v1", v1, both},
		{"numa-hugepages", huge, under(driver.Systemd, "machine.sh", "hugepages.sh")},
	}
}

// TestMachines runs the jobs that KQOS_E2E_JOBS names, all without it.
func TestMachines(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("building the guest's file system needs root")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	img, err := vm.Build(ctx, filepath.Join(cache, "kqos-e2e"))
	if err != nil {
		t.Fatal(err)
	}
	folder := jobFolder(t)
	only := strings.Fields(os.Getenv("KQOS_E2E_JOBS"))
	for _, g := range guests() {
		if len(only) > 0 {
			g.jobs = slices.DeleteFunc(g.jobs, func(j job) bool { return !slices.Contains(only, j.script) })
		}
		t.Run(g.name, func(t *testing.T) {
			script := "run-" + g.name + ".sh"
			writeRunner(t, filepath.Join(folder, script), g.jobs)
			var out strings.Builder
			err := vm.Run(ctx, img, g.machine, folder, script, "", io.MultiWriter(&out, t.Output()))
			if err != nil {
				t.Error(err)
			}
			for _, j := range g.jobs {
				if !strings.Contains(out.String(), "PASS "+j.String()) {
					t.Errorf("%s did not pass", j)
				}
			}
		})
	}
}

// jobFolder holds the binary, the jobs and the example node.
func jobFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(folder, "kqos"), "github.com/kqos/kqos/cmd/kqos")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building kqos: %v: %s", err, out)
	}
	for from, to := range map[string]string{"jobs": "", "../../testdata/node": "node"} {
		if err := os.CopyFS(filepath.Join(folder, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// writeRunner makes one script of all jobs, each in a process of its own and
// with nothing left over from the one before.
func writeRunner(t *testing.T, path string, jobs []job) {
	t.Helper()
	if len(jobs) == 0 {
		t.Fatal("a machine without jobs tests nothing")
	}
	text := `failed=0
run() {
	if DRIVER=$1 timeout 300 sh ./$2; then echo "PASS $3 at $(cut -d' ' -f1 /proc/uptime) s"; else echo "FAIL $3"; failed=1; fi
	sh ./clean.sh >/dev/null 2>&1
}
`
	for _, j := range jobs {
		text += fmt.Sprintf("run %s %s '%s'\n", j.driver, j.script, j)
	}
	if err := os.WriteFile(path, []byte(text+"exit $failed\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}
