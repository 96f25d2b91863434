package inspect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fullNode writes a v2 node with pods of two containers each, with the files
// that a kernel has.
func fullNode(tb testing.TB, pods int) string {
	tb.Helper()
	root := tb.TempDir()
	files := map[string]string{
		"cpu.stat": "usage_usec 1500000\nuser_usec 1\nsystem_usec 1\nnr_periods 10\nnr_throttled 2\nthrottled_usec 250\n",
		"cpu.max":  "max 100000\n", "cpu.weight": "4\n", "cpuset.cpus": "\n", "cpuset.cpus.effective": "0-7\n", "cpuset.mems": "\n",
		"cpuset.mems.effective": "0\n", "memory.current": "4096\n", "memory.peak": "4096\n", "memory.events": "low 0\noom_kill 0\n",
		"memory.max": "max\n", "memory.min": "0\n", "memory.low": "0\n", "memory.high": "max\n", "memory.swap.max": "0\n",
		"memory.swap.current": "0\n", "memory.oom.group": "0\n", "pids.max": "max\n", "pids.current": "5\n",
		"hugetlb.2MB.max": "0\n", "hugetlb.2MB.current": "0\n", "hugetlb.1GB.max": "0\n", "hugetlb.1GB.current": "0\n",
	}
	for _, resource := range []string{"cpu", "memory", "io"} {
		files[resource+".pressure"] = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
	}
	fill := func(path string) {
		folder := filepath.Join(root, "sys/fs/cgroup", path)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			tb.Fatal(err)
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				tb.Fatal(err)
			}
		}
	}
	write(tb, root, map[string]string{"sys/fs/cgroup/cgroup.controllers": "cpu memory"})
	fill("kubepods.slice")
	fill("kubepods.slice/kubepods-burstable.slice")
	for n := range pods {
		pod := fmt.Sprintf("kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod%08d.slice", n)
		fill(pod)
		for c := range 2 {
			fill(fmt.Sprintf("%s/cri-containerd-%s%d.scope", pod, strings.Repeat("0", 63), c))
		}
	}
	return root
}

// BenchmarkInspect reads a node of 500 pods with two containers each, and
// tells the CPU time of that: the file system's counts too.
func BenchmarkInspect(b *testing.B) {
	root := fullNode(b, 500)
	before, looks := cpuTime(b), 0
	for b.Loop() {
		h, err := Open(root)
		if err != nil {
			b.Fatal(err)
		}
		h.kernels = true // as it is on a node
		i := Inspection{Root: root, Hierarchy: h, Owners: HostOwners(root), Paths: h.Walk("/kubepods.slice"), Whole: true}
		if report := i.Run(b.Context()); len(report.Cgroups) != 1502 {
			b.Fatalf("%d cgroups", len(report.Cgroups))
		}
		looks++
	}
	b.ReportMetric(float64((cpuTime(b)-before)/time.Millisecond)/float64(looks), "cpu-ms/op")
}

// BenchmarkMonitor is one look of a live view at that node, over whole rounds
// after the first look: of a screen of 50 lines in the tree's order and sorted by
// CPU, and of all lines.
func BenchmarkMonitor(b *testing.B) {
	root := fullNode(b, 500)
	write(b, root, map[string]string{"proc/uptime": "1.0\n"})
	screen := func(path string) bool { return strings.Contains(path, "pod0000001") }
	for _, bb := range []struct {
		name  string
		focus Focus
	}{{"screen", Focus{Shown: screen}}, {"screen-by-cpu", Focus{screen, "cpu"}}, {"all", Focus{}}} {
		b.Run(bb.name, func(b *testing.B) {
			h, err := Open(root)
			if err != nil {
				b.Fatal(err)
			}
			m := NewMonitor(&Inspection{Root: root, Hierarchy: h, Owners: HostOwners(root), Tops: []string{"/kubepods.slice"}, Whole: true}, 32<<10)
			defer m.Close()
			m.Look(b.Context(), bb.focus)
			before, looks := cpuTime(b), 0
			for b.Loop() {
				for range turns {
					if report, _ := m.Look(b.Context(), bb.focus); len(report.Cgroups) != 1502 {
						b.Fatalf("%d cgroups", len(report.Cgroups))
					}
					looks++
				}
			}
			b.ReportMetric(float64((cpuTime(b)-before)/time.Microsecond)/1000/float64(looks), "cpu-ms/look")
		})
	}
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
