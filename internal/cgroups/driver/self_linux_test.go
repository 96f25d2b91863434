package driver

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	oc "github.com/opencontainers/cgroups"
)

func TestFindProcess(t *testing.T) {
	oc.TestMode = true // reads what is no cgroup file system
	t.Cleanup(func() { oc.TestMode = false })
	mount := t.TempDir()
	for folder, pids := range map[string]string{
		"": "1\n2\n", "a": "", "a/kqos": "0\n0\n4711\n", "b": "471\n", "b/4711": "",
	} {
		if err := os.MkdirAll(filepath.Join(mount, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(mount, folder, "cgroup.procs"), []byte(pids), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		told string
		pid  int
		want string
	}{
		{"/a/kqos", 4711, "/a/kqos"},
		{"/", 4711, "/a/kqos"}, // a cgroup namespace of its own
		{"/b", 4711, "/a/kqos"},
		{"/../b", 4711, "/a/kqos"}, // moved out of the namespace's root
		{"", 4711, "/a/kqos"},
		{"/", 2, "/"},
		{"/a", 1, "/"},
		{"/", 47, ""},
	} {
		got, err := findProcess(mount, tt.told, tt.pid)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("process %d, told %q: %q, %v; want %q", tt.pid, tt.told, got, err, tt.want)
		}
		if err != nil && !strings.Contains(err.Error(), "in the host's cgroup namespace") {
			t.Errorf("no way out in %v", err)
		}
	}
}

// selfFile names, for the test below run anew in a cgroup namespace, where to
// write what Self answers.
const selfFile = "KQOS_TEST_SELF"

// In a cgroup namespace of its own /proc/self/cgroup says "/"; kqos still knows
// its true cgroup.
func TestSelfInCgroupNamespace(t *testing.T) {
	d, root := open(t)
	if file := os.Getenv(selfFile); file != "" {
		self, err := d.Self()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Join(self, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	file := filepath.Join(t.TempDir(), "self")
	move := "for f in "
	for _, folder := range d.folders(root) {
		if !strings.Contains(folder, "cpuset") { // empty, so nothing may live there
			move += strconv.Quote(folder) + " "
		}
	}
	move += `; do echo $$ >"$f/cgroup.procs" || exit 1; done; exec unshare -C "$0" -test.run '^TestSelfInCgroupNamespace$'`
	cmd := exec.Command("sh", "-c", move, os.Args[0])
	cmd.Env = append(os.Environ(), selfFile+"="+file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if self := strings.Split(string(got), "\n"); !slices.Contains(self, root) {
		t.Errorf("lives in %s, and thinks that it lives in %q", root, self)
	}
}
