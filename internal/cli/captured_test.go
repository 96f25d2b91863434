package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/inspect"
)

func TestCapturedTree(t *testing.T) {
	root := t.TempDir()
	for _, controller := range []string{"cpu,cpuacct", "memory", "pids"} {
		captured(t, root, "sys/fs/cgroup/"+controller+"/kubepods/cgroup.procs", "")
	}
	captured(t, root, "sys/fs/cgroup/cpu,cpuacct/kubepods/cpu.shares", "512\n")
	captured(t, root, "sys/fs/cgroup/memory/kubepods/poda/memory.limit_in_bytes", "4096\n")
	tree, err := inspect.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	host := capturedTree{tree}
	for path, want := range map[string]cgroups.Live{
		"/kubepods":      {Exists: true, Files: map[string]string{"cpu/cpu.shares": "512"}},
		"/kubepods/poda": {Files: map[string]string{"memory/memory.limit_in_bytes": "4096"}},
		"/kubepods/podb": {Files: map[string]string{}},
	} {
		got, err := host.Read(&cgroups.Cgroup{
			Path: path, Files: map[string]string{"cpu/cpu.shares": "2", "hugetlb/x": "0"}, Unknown: map[string]string{"memory/memory.limit_in_bytes": ""},
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	children, err := host.Children("/kubepods")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"poda"}, children); diff != "" {
		t.Errorf("children (-want +got):\n%s", diff)
	}
	available, _, err := host.Controllers("/kubepods")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"cpu", "cpuacct", "memory", "pids"}, available); diff != "" {
		t.Errorf("controllers (-want +got):\n%s", diff)
	}
}
