package apply

import (
	"context"
	"fmt"
	"testing"

	oc "github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/manager"
	"golang.org/x/sys/unix"
)

// benchPods are the pods of a small, a full and a huge node.
func benchPods() []int { return []int{10, 100, 1000} }

// cpuTime reports the process's CPU time per iteration, which unlike the clock
// does not count what else the machine does.
func cpuTime(b *testing.B) func() {
	before := cpuUsed(b)
	return func() { b.ReportMetric(float64(cpuUsed(b)-before)/float64(b.N), "cpu-ns/op") }
}

func cpuUsed(b *testing.B) int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkFirstApply makes a whole tree on this host from nothing.
func BenchmarkFirstApply(b *testing.B) {
	for _, n := range benchPods() {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			d, root, version := realHost(b)
			tree := realTree(root, version, n)
			cpu := int64(0)
			defer func() { b.ReportMetric(float64(cpu)/float64(b.N), "cpu-ns/op") }()
			for b.Loop() {
				before := cpuUsed(b)
				if _, r, _ := realPass(b, tree, d, Options{}); len(r.Errors) > 0 {
					b.Fatal(r.Errors)
				}
				cpu += cpuUsed(b) - before
				b.StopTimer()
				if _, r, _ := realPass(b, tree, d, Options{Remove: true}); len(r.Errors) > 0 {
					b.Fatal(r.Errors)
				}
				b.StartTimer()
			}
		})
	}
}

// BenchmarkSteadyTick looks at a tree that is as wanted. Compare with
// BenchmarkLibrarySet, which is what a tick costs that writes all anew.
func BenchmarkSteadyTick(b *testing.B) {
	for _, n := range benchPods() {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			d, root, version := realHost(b)
			tree := realTree(root, version, n)
			if _, r, _ := realPass(b, tree, d, Options{}); len(r.Errors) > 0 {
				b.Fatal(r.Errors)
			}
			files := 0
			for _, cg := range tree.Cgroups {
				files += len(cg.Files)
			}
			memory := NewMemory()
			defer cpuTime(b)()
			for b.Loop() {
				p, err := Make(tree, d, Options{}, memory)
				if err != nil || len(p.Changes()) > 0 {
					b.Fatal(err, p.Changes())
				}
			}
			b.ReportMetric(float64(files), "files")
		})
	}
}

// BenchmarkLibrarySet calls Set of opencontainers/cgroups on every cgroup, with
// managers that are made beforehand.
func BenchmarkLibrarySet(b *testing.B) {
	for _, n := range benchPods() {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			d, root, version := realHost(b)
			tree := realTree(root, version, n)
			p, err := Make(tree, d, Options{}, nil)
			if err != nil {
				b.Fatal(err)
			}
			if r := p.Execute(context.Background(), d, quiet()); len(r.Errors) > 0 {
				b.Fatal(r.Errors)
			}
			managers := make([]oc.Manager, len(tree.Cgroups))
			resources := make([]*oc.Resources, len(tree.Cgroups))
			pids := int64(100)
			for i, cg := range tree.Cgroups {
				resources[i] = &oc.Resources{
					SkipDevices: true, CpuShares: 1024, CpuWeight: 39, CpuQuota: 20000, CpuPeriod: 100000,
					Memory: 10000000, PidsLimit: &pids,
				}
				if i < 3 { // the tiers stay wide enough for their pods
					resources[i] = &oc.Resources{SkipDevices: true, CpuShares: 1024, CpuWeight: 39}
				}
				if managers[i], err = manager.New(&oc.Cgroup{Path: cg.Path, Resources: resources[i]}); err != nil {
					b.Fatal(err)
				}
			}
			defer cpuTime(b)()
			for b.Loop() {
				for i, m := range managers {
					if err := m.Set(resources[i]); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
