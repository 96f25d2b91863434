//go:build e2e

// Package e2e runs the real binary on real kernels: each machine boots once and
// runs every job of jobs/ that suits it.
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kqos/kqos/test/e2e/vm"
)

// machines is the boot matrix: what each is named, has, and which jobs it runs.
func machines() []struct {
	name    string
	machine vm.Machine
	jobs    []string
} {
	small := vm.Machine{Sockets: 2, Cores: 2, Threads: 2, NUMA: 2, MemoryMiB: 2048}
	v1 := small
	v1.Kernel = vm.V1
	huge := small
	huge.Kernel = "hugepages=0:64,1:32"
	return []struct {
		name    string
		machine vm.Machine
		jobs    []string
	}{
		{"v2", small, []string{"machine.sh"}},
		{"v1", v1, []string{"machine.sh"}},
		{"numa-hugepages", huge, []string{"machine.sh"}},
	}
}

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
	for _, m := range machines() {
		t.Run(m.name, func(t *testing.T) {
			script := "run-" + m.name + ".sh"
			writeRunner(t, filepath.Join(folder, script), m.jobs)
			var out strings.Builder
			err := vm.Run(ctx, img, m.machine, folder, script, "", &out)
			t.Log(out.String())
			if err != nil {
				t.Fatal(err)
			}
			for _, job := range m.jobs {
				if !strings.Contains(out.String(), "PASS "+job) {
					t.Errorf("%s did not pass", job)
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

// writeRunner makes one script of all jobs, each in a process of its own.
func writeRunner(t *testing.T, path string, jobs []string) {
	t.Helper()
	if len(jobs) == 0 || slices.Contains(jobs, "") {
		t.Fatal("a machine without jobs tests nothing")
	}
	text := "failed=0\n"
	for _, job := range jobs {
		text += fmt.Sprintf("echo '=== %[1]s'; if sh ./%[1]s; then echo 'PASS %[1]s'; else echo 'FAIL %[1]s'; failed=1; fi\n", job)
	}
	if err := os.WriteFile(path, []byte(text+"exit $failed\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}
