package cli

import (
	"os"
	"strings"
	"testing"
)

// TestSurveyInVain leaves nothing of the tree open: a watch tries again each
// minute.
func TestSurveyInVain(t *testing.T) {
	root := t.TempDir()
	captured(t, root, "sys/fs/cgroup/cgroup.controllers", "cpu\n")
	captured(t, root, "sys/fs/cgroup/cgroup.type", "domain\n")
	if code := Main([]string{"inspect", "nobody", "--host-root", root, "--topology", "synthetic:cores=1"}, silent(nil)); code != exitFailed {
		t.Fatalf("exit code %d", code)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range open {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(to, root) {
			t.Errorf("%s is open", to)
		}
	}
}
