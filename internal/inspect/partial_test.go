package inspect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPartial tells a container's view from a host's, and from a captured root,
// which has no processes at all.
func TestPartial(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		live  bool
		want  []string
	}{
		"host":                {map[string]string{"proc/2/comm": "kthreadd\n"}, true, nil},
		"captured":            {map[string]string{"proc/uptime": "1 1\n", "proc/2/comm": "something\n"}, false, nil},
		"cgroup namespace":    {map[string]string{"proc/2/comm": "kthreadd\n", "sys/fs/cgroup/cgroup.type": "domain\n"}, true, []string{"the cgroups at"}},
		"PID namespace":       {map[string]string{"proc/2/comm": "sleep\n"}, true, []string{"the processes at"}},
		"one process":         {nil, true, []string{"the processes at"}},
		"neither is the host": {map[string]string{"sys/fs/cgroup/cgroup.type": "domain\n"}, true, []string{"the cgroups at", "the processes at"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, map[string]string{"sys/fs/cgroup/cgroup.controllers": "cpu\n"})
			write(t, root, c.files)
			if c.live {
				if err := os.MkdirAll(filepath.Join(root, "proc"), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink("1", filepath.Join(root, "proc/self")); err != nil {
					t.Fatal(err)
				}
			}
			h, err := Open(root)
			if err != nil {
				t.Fatal(err)
			}
			got := h.Partial(root)
			if (got == "") != (len(c.want) == 0) {
				t.Errorf("got %q", got)
			}
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in %q", want, got)
				}
			}
			if len(c.want) == 1 && strings.Contains(got, ";") {
				t.Errorf("more than one reason: %q", got)
			}
		})
	}
}
