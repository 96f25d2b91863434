package inspect

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/nodeapi"
)

func TestFind(t *testing.T) {
	root := t.TempDir()
	id := strings.Repeat("0123456789abcdef", 4)
	digits := strings.Repeat("0123456789012345", 4)
	const base, pod = "sys/fs/cgroup", "/kubepods/burstable/podu-1"
	container := pod + "/" + id
	write(t, root, map[string]string{
		base + "/cgroup.controllers":                          "cpu",
		base + container + "/inner/x":                         "",
		base + "/kubepods/podu-2/x":                           "",
		base + "/system.slice/ssh/x":                          "",
		"var/log/pods/shop_web_u-1/x":                         "",
		"var/log/pods/other_web_u-2/x":                        "",
		"proc/7/cgroup":                                       "0::" + container + "\n",
		"proc/8/cgroup":                                       "0::/../elsewhere\n",
		"proc/9/cgroup":                                       "garbage",
		base + pod + "/cgroup.procs":                          "11\n12\n",
		base + "/kubepods/pod" + digits + "/" + digits + "/x": "",
	})
	h, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	owners := HostOwners(root)
	for word, want := range map[string][]string{
		"/system.slice":     {"/system.slice"},
		"system.slice/ssh/": {"/system.slice/ssh"},
		"7":                 {container},
		id:                  {container},
		id[:12]:             {container},
		"u-1":               {pod},
		"shop/web":          {pod},
		"web":               {pod, "/kubepods/podu-2"},
		"/..":               {"/"},
		id[:11]:             nil,
		"8":                 nil,
		"9":                 nil,
		"10":                nil,
		"12":                {pod}, // of an archive: no /proc/12
		digits[:12]:         {"/kubepods/pod" + digits + "/" + digits},
		"nobody":            nil,
		"":                  {"/"},
	} {
		got, err := h.Find(root, word, owners)
		if d := cmp.Diff(want, got); d != "" || (err == nil) != (want != nil) {
			t.Errorf("%q: error %v, -want +got:\n%s", word, err, d)
		}
	}
	if got := h.PodRoots(); !slices.Equal(got, []string{"/kubepods"}) {
		t.Errorf("roots of pods: %v", got)
	}
}

// On a hybrid host the lines of several hierarchies differ.
func TestFindProcessV1(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"sys/fs/cgroup/memory/a/x":      "",
		"sys/fs/cgroup/cpu,cpuacct/b/x": "",
		"proc/7/cgroup":                 "3:cpu,cpuacct:/b\n2:memory:/a\n0::/c\n",
		"proc/8/cgroup":                 "3:cpu,cpuacct:/b\n2:memory:/gone\n",
	})
	h, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	for pid, want := range map[string]string{"7": "/a", "8": "/b"} {
		if got, err := h.Find(root, pid, HostOwners(root)); err != nil || got[0] != want {
			t.Errorf("process %s: %v, %v, want %s", pid, got, err, want)
		}
	}
}

// An inspection that may not go on says how far it came.
func TestRunEnds(t *testing.T) {
	root := fullNode(t, 3)
	h, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	i := Inspection{Root: root, Hierarchy: h, Owners: HostOwners(root), Paths: h.Walk("/kubepods.slice")}
	report := i.Run(ctx)
	if d := cmp.Diff([]string{"stopped after 0 of 11 cgroups: interrupted"}, report.Notes); d != "" || len(report.Cgroups) > 0 {
		t.Error("-want +got:\n" + d)
	}
}

// Rates need a host whose clock goes on.
func TestRate(t *testing.T) {
	root := fullNode(t, 1)
	h, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, map[string]string{"proc/uptime": "1.00 1.00\n"})
	i := Inspection{Root: root, Hierarchy: h, Owners: HostOwners(root), Paths: []string{"/kubepods.slice"}}
	i.Before = h.Sample(root, i.Paths)
	if rate := i.Run(t.Context()).Cgroups[0].Rate; rate != nil {
		t.Errorf("a captured node uses %v CPUs", *rate)
	}
	write(t, root, map[string]string{"proc/uptime": "2.00 1.00\n", "sys/fs/cgroup/kubepods.slice/cpu.stat": "usage_usec 1600000\n"})
	if rate := i.Run(t.Context()).Cgroups[0].Rate; rate == nil || *rate <= 0 {
		t.Errorf("got rate %v", rate)
	}
	write(t, root, map[string]string{"proc/uptime": "3.00 1.00\n", "sys/fs/cgroup/kubepods.slice/cpu.stat": "usage_usec 5\n"})
	if rate := i.Run(t.Context()).Cgroups[0].Rate; rate != nil {
		t.Errorf("a cgroup made anew has the rate %v", *rate)
	}
}

// What can't be read is noted once, and what is no file holds nobody up.
func TestUnreadable(t *testing.T) {
	root := fullNode(t, 0)
	file := root + "/sys/fs/cgroup/kubepods.slice/"
	if err := syscall.Unlink(file + "memory.max"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file+"memory.max", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Unlink(file + "cpu.max"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkdir(file+"cpu.max", 0o700); err != nil {
		t.Fatal(err)
	}
	h, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	i := Inspection{Root: root, Hierarchy: h, Owners: HostOwners(root), Paths: []string{"/kubepods.slice", "/gone"}}
	notes := i.Run(t.Context()).Notes
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "reading 1 file failed, the first: reading cpu.max of cgroup /kubepods.slice: ") {
		t.Errorf("notes %q", notes)
	}
}

// CPUs of a container whose name nobody knows are its pod's, and those of a pod
// that is gone are told.
func TestExclusiveOwners(t *testing.T) {
	root := fullNode(t, 2)
	h, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	owners := HostOwners(root)
	owners.AddRuntime([]nodeapi.Container{{ID: strings.Repeat("0", 64), Name: "app"}})
	i := Inspection{
		Root: root, Hierarchy: h, Owners: owners, Paths: h.Walk("/kubepods.slice"), Whole: true,
		Exclusive: map[string]map[string]cpuset.CPUSet{
			"00000000": {"app": cpuset.New(1), "unknown": cpuset.New(2)}, "gone": {"c": cpuset.New(3)},
		},
	}
	got, notes := i.owners(i.Run(t.Context()).Cgroups)
	pod := "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod00000000.slice"
	app := pod + "/cri-containerd-" + strings.Repeat("0", 64) + ".scope"
	want := []Exclusive{
		{Owner: "00000000/app", CPUs: cpuset.New(1), Path: app, Home: app},
		{Owner: "00000000/unknown", CPUs: cpuset.New(2), Path: pod, Home: pod},
	}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b cpuset.CPUSet) bool { return a.Equals(b) })); d != "" {
		t.Error("-want +got:\n" + d)
	}
	// The pod has CPUs as a whole: what no container has of them is the pod's, and
	// what two have is everybody's in it.
	i.Exclusive = map[string]map[string]cpuset.CPUSet{"00000000": {"": cpuset.New(1, 2, 3, 4), "app": cpuset.New(1, 2), "unknown": cpuset.New(2, 3)}}
	got, _ = i.owners(i.Run(t.Context()).Cgroups)
	want = []Exclusive{
		{Owner: "00000000", CPUs: cpuset.New(4), Path: pod, Home: pod},
		{Owner: "00000000/app", CPUs: cpuset.New(1, 2), Path: app, Home: pod},
		{Owner: "00000000/unknown", CPUs: cpuset.New(2, 3), Path: pod, Home: pod},
	}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b cpuset.CPUSet) bool { return a.Equals(b) })); d != "" {
		t.Error("-want +got:\n" + d)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "CPUs 3 belong to gone/c alone") {
		t.Errorf("notes %q", notes)
	}
}
