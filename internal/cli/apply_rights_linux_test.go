package cli

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// kqosAs runs this test binary as kqos, see TestMain.
func kqosAs(t *testing.T, attributes *syscall.SysProcAttr, args ...string) (output string, code int) {
	t.Helper()
	// The link is followed without looking at the folders above the binary, which
	// are closed to other users.
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: append([]string{"kqos"}, args...), SysProcAttr: attributes}
	out, err := cmd.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestApplyNeedsRoot(t *testing.T) {
	attributes := &syscall.SysProcAttr{}
	if os.Geteuid() == 0 {
		const nobody = 65534
		attributes.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	out, code := kqosAs(t, attributes, "apply", "--capacity", "cpu=2", "-f", "-", "--driver", "cgroupfs")
	if want := "kqos: apply writes the host's cgroups, which takes root: run it with sudo, or plan with --dry-run\n"; code != 2 || out != want {
		t.Errorf("exit code %d, output %q; want 2 and %q", code, out, want)
	}
}
