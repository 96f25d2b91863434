//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

const mountpoint = "/sys/fs/cgroup"

// TestFaults lets the k-th system call of each kind that makes or writes a
// cgroup fail, or kills kqos at it, for every k, on this host. The next apply
// has to finish, and nothing outside the cgroup root may be touched.
func TestFaults(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making cgroups on this host needs root")
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Fatal("faults are injected by strace: apt-get install strace")
	}
	h := newFaulty(t)
	for _, call := range []struct {
		names  string
		faults []string
	}{
		{"mkdir,mkdirat", []string{"error=ENOSPC", "error=EACCES", "error=EINTR", "error=EBUSY", "signal=KILL"}},
		{"write", []string{"error=EBUSY", "error=EINVAL", "error=ENOSPC", "error=EACCES", "error=EINTR", "signal=KILL"}},
		{"lsetxattr", []string{"error=ENOSPC", "error=EPERM", "signal=KILL"}},
	} {
		t.Run(call.names, func(t *testing.T) {
			injected := 0
			for k := 1; ; k++ {
				fault := call.faults[k%len(call.faults)]
				hit := h.inject(t, call.names, fault, k)
				if out, err := h.kqos("apply"); err != nil {
					t.Errorf("apply after %s at call %d of %s: %v: %s", fault, k, call.names, err, out)
				}
				if out, err := h.kqos("diff"); err != nil {
					t.Errorf("diff after %s at call %d of %s: %v: %s", fault, k, call.names, err, out)
				}
				if out, err := h.kqos("apply", "--remove"); err != nil {
					t.Fatalf("remove after %s at call %d of %s: %v: %s", fault, k, call.names, err, out)
				}
				if left := h.below(t); len(left) > 0 {
					t.Fatalf("left after %s at call %d of %s: %v", fault, k, call.names, left)
				}
				if !hit {
					break
				}
				injected++
			}
			if injected == 0 {
				t.Fatal("no call was made to fail")
			}
			t.Logf("%d faults", injected)
		})
	}
}

// faulty is a cgroup root of its own on this host, and a binary to work on it.
type faulty struct{ binary, root, pods, config string }

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	folder := jobFolder(t)
	h := &faulty{
		binary: filepath.Join(folder, "kqos"), pods: filepath.Join(folder, "pods"),
		root: fmt.Sprintf("/kqos-faults-%08x", rand.Uint32()), config: filepath.Join(folder, "faults.yaml"),
	}
	text, err := os.ReadFile(filepath.Join(folder, "kubelet.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.config, append(text, "cgroupRoot: "+h.root+"\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range h.roots(t) {
		err := os.Mkdir(dir, 0o755)
		if errors.Is(err, syscall.EROFS) {
			t.Skip("this host's cgroups are mounted read-only")
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.Remove(dir); err != nil {
				t.Error(err)
			}
		})
		// A v1 cpuset begins empty, and then nothing can run below.
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			value, err := os.ReadFile(filepath.Join(filepath.Dir(dir), file))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, file), value, 0o600)
			}
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
	}
	return h
}

// roots are the folders of the cgroup root, one a hierarchy.
func (h *faulty) roots(t *testing.T) []string {
	t.Helper()
	if _, err := os.Stat(mountpoint + "/cgroup.controllers"); err == nil {
		return []string{mountpoint + h.root}
	}
	hierarchies, err := filepath.Glob(mountpoint + "/*/cgroup.procs")
	if err != nil {
		t.Fatal(err)
	}
	var roots []string
	for _, file := range hierarchies {
		dir := filepath.Dir(file)
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			roots = append(roots, dir+h.root)
		}
	}
	return roots
}

// below lists what stands below the cgroup root.
func (h *faulty) below(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, root := range h.roots(t) {
		entries, err := os.ReadDir(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() {
				all = append(all, filepath.Join(root, e.Name()))
			}
		}
	}
	return all
}

func (h *faulty) arguments(args ...string) []string {
	return append(args, h.pods, "--driver", "cgroupfs", "--config", h.config)
}

func (h *faulty) kqos(args ...string) (string, error) {
	out, err := exec.Command(h.binary, h.arguments(args...)...).CombinedOutput()
	return string(out), err
}

// outside finds system calls that change something; those on files of the
// cgroup root are let pass.
var changing = regexp.MustCompile(`^[0-9]+ +(mkdir|rmdir|unlink|rename|lsetxattr|lremovexattr|open.*(O_WRONLY|O_RDWR|O_CREAT)).*/sys/fs/cgroup`)

// inject runs an apply whose k-th call fails, and says whether any did. strace
// counts the calls of each thread, so a run may see several faults.
func (h *faulty) inject(t *testing.T, calls, fault string, k int) bool {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	args := []string{
		"-f", "-y", "-s", "200", "-o", trace,
		"-e", "trace=" + calls + ",/^(open|mkdir|rmdir|unlink|rename)|xattr",
		"-e", fmt.Sprintf("inject=%s:%s:when=%d", calls, fault, k),
	}
	cmd := exec.Command("strace", append(append(args, h.binary), h.arguments("apply")...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	out, err := cmd.CombinedOutput()
	text, readErr := os.ReadFile(trace)
	if readErr != nil {
		t.Fatal(readErr, string(out))
	}
	if strings.Contains(string(out), "panic") || strings.Contains(string(out), "goroutine ") {
		t.Errorf("%s at call %d of %s: %s", fault, k, calls, out)
	}
	for line := range strings.Lines(string(text)) {
		if changing.MatchString(line) && !strings.Contains(line, h.root) {
			t.Errorf("%s at call %d of %s changes what lies outside of the cgroup root: %s", fault, k, calls, line)
		}
	}
	hit := strings.Contains(string(text), "INJECTED") || strings.Contains(string(text), "SIGKILL")
	if hit && err == nil && fault != "error=EINTR" {
		t.Logf("%s at call %d of %s was made good within the run", fault, k, calls)
	}
	return hit
}
