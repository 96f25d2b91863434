package inspect

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestLeaks(t *testing.T) {
	root := t.TempDir()
	const base = "sys/fs/cgroup/"
	write(t, root, map[string]string{
		"proc/41/comm":              "postgres\n",
		base + "cgroup.controllers": "cpu memory",
		base + "kubepods/burstable/podlive/c/cgroup.procs":            "1\n",
		base + "kubepods/burstable/podheld/cgroup.procs":              "",
		base + "kubepods/burstable/podheld/0123456789ab/cgroup.procs": "42\n41\n",
		base + "kubepods/podempty/cgroup.procs":                       "",
		base + "kubepods/besteffort/podhollow/c/cgroup.procs":         "",
		base + "podinfo/cgroup.procs":                                 "7\n",
	})
	h, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	owners := HostOwners(t.TempDir())
	paths := h.Walk("/kubepods")
	if leaks := h.Leaks(root, paths, owners); leaks != nil {
		t.Errorf("without a known pod: %v", leaks)
	}
	owners.Add([]*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{UID: "live"}}})
	got := h.Leaks(root, paths, owners)
	want := []Leak{
		{Path: "/kubepods/besteffort/podhollow", Why: "1 empty cgroup left below it"},
		{Path: "/kubepods/burstable/podheld", Why: "2 processes still run in it: 41 postgres", PIDs: []int{41, 42}},
		{Path: "/kubepods/podempty", Why: "it is empty: nobody removed it"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error("-want +got:\n" + d)
	}
}

func TestUsage(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"sys/fs/cgroup/cgroup.controllers": "cpu memory",
		"sys/fs/cgroup/a/cpu.stat":         "usage_usec 1500000\nnr_periods 10\nnr_throttled 2\nthrottled_usec 250\n",
		"sys/fs/cgroup/a/memory.current":   "4096\n",
		"sys/fs/cgroup/a/memory.events":    "low 0\noom_kill 3\n",
		"sys/fs/cgroup/a/pids.current":     "5\n",
		"sys/fs/cgroup/a/memory.pressure":  "some avg10=1.25 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.50 avg60=0.00 avg300=0.00 total=1\n",
	})
	h, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	u := h.Usage("/a")
	switch {
	case u.CPU == nil || u.CPU.Seconds() != 1.5:
		t.Errorf("cpu: %v", u.CPU)
	case u.Throttled == nil || u.Throttled.Microseconds() != 250 || *u.ThrottledPeriods != 2 || *u.Periods != 10:
		t.Errorf("throttling: %v of %v, %v", u.ThrottledPeriods, u.Periods, u.Throttled)
	case u.Memory == nil || *u.Memory != 4096 || u.Peak != nil || u.Swap != nil:
		t.Errorf("memory: %v %v %v", u.Memory, u.Peak, u.Swap)
	case u.OOMKills == nil || *u.OOMKills != 3 || u.PIDs == nil || *u.PIDs != 5:
		t.Errorf("oom kills %v, pids %v", u.OOMKills, u.PIDs)
	case len(u.Pressure) != 1 || u.Pressure["memory"] != 1.25:
		t.Errorf("pressure: %v", u.Pressure)
	}
}

func TestUsageV1(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"sys/fs/cgroup/cpu,cpuacct/a/cpu.stat":               "nr_periods 10\nnr_throttled 2\nthrottled_time 250000\n",
		"sys/fs/cgroup/cpu,cpuacct/a/cpuacct.usage":          "1500000000\n",
		"sys/fs/cgroup/memory/a/memory.usage_in_bytes":       "4096\n",
		"sys/fs/cgroup/memory/a/memory.memsw.usage_in_bytes": "6144\n",
		"sys/fs/cgroup/pids/a/pids.current":                  "5\n",
		"sys/fs/cgroup/blkio/b/x":                            "",
	})
	h, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	u := h.Usage("/a")
	if *u.CPU != 1500000000 || *u.Throttled != 250000 || *u.Swap != 2048 || *u.PIDs != 5 || *u.Memory != 4096 {
		t.Errorf("got %+v", u)
	}
	if got := h.Children("/"); !slices.Equal(got, []string{"/a", "/b"}) {
		t.Errorf("children: %v", got)
	}
}

// TestLeaksV1 looks into every v1 hierarchy, systemd's own and foreign ones too.
func TestLeaksV1(t *testing.T) {
	root := t.TempDir()
	const base = "sys/fs/cgroup/"
	write(t, root, map[string]string{
		base + "memory/kubepods/podlive/cgroup.procs":       "1\n",
		base + "systemd/kubepods/podlive/cgroup.procs":      "1\n",
		base + "systemd/kubepods/podhalf/cgroup.procs":      "7\n",
		base + "unified/kubepods/podhybrid/cgroup.procs":    "8\n",
		base + "monitor/kubepods/podforeign/cgroup.procs":   "",
		base + "hugetlb/kubepods/podlive/cgroup.procs":      "1\n",
		base + "cpu,cpuacct/kubepods/podlive/cgroup.procs":  "1\n",
		base + "pids/kubepods/podwhole/cgroup.procs":        "",
		base + "memory/kubepods/podwhole/cgroup.procs":      "",
		base + "systemd/kubepods/podwhole/cgroup.procs":     "",
		base + "hugetlb/kubepods/podwhole/cgroup.procs":     "",
		base + "cpu,cpuacct/kubepods/podwhole/cgroup.procs": "",
		base + "monitor/kubepods/podwhole/cgroup.procs":     "",
	})
	h, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	owners := HostOwners(t.TempDir())
	owners.Add([]*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{UID: "live"}}})
	got := h.Leaks(root, h.Walk("/kubepods"), owners)
	want := []Leak{
		{Path: "/kubepods/podforeign", Why: "it is empty: nobody removed it; it stands only in hierarchies that kubelet and runtime do not know: monitor"},
		{Path: "/kubepods/podhalf", Why: "a process still runs in it; it stands only in the hierarchies systemd", PIDs: []int{7}},
		{Path: "/kubepods/podwhole", Why: "it is empty: nobody removed it"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error("-want +got:\n" + d)
	}
}

// TestWhole asks only the hierarchies that the kubelet looks into.
func TestWhole(t *testing.T) {
	root := t.TempDir()
	const base = "sys/fs/cgroup/"
	write(t, root, map[string]string{
		base + "memory/a/x": "", base + "systemd/a/x": "", base + "memory/b/x": "", base + "blkio/y": "",
	})
	h, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	if !h.Whole("/a") || h.Whole("/b") {
		t.Errorf("a: %v, b: %v; want true and, without systemd's, false", h.Whole("/a"), h.Whole("/b"))
	}
}
