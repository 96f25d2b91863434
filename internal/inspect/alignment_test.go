package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/machine"
)

func TestAlign(t *testing.T) {
	m, err := machine.ParseSynthetic("synthetic:sockets=2,numa=2,llc=2,cores=4,threads=2")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cpus, shared cpuset.CPUSet
		numa         []int
	}{
		"whole cores":    {cpuset.New(0, 4), cpuset.New(), []int{0}},
		"half a core":    {cpuset.New(0, 1, 4), cpuset.New(1), []int{0}},
		"both nodes":     {cpuset.New(0, 4, 2, 6), cpuset.New(), []int{0, 1}},
		"CPUs elsewhere": {cpuset.New(99), cpuset.New(), nil},
	} {
		a := align(m, c.cpus)
		if !a.SharedCores.Equals(c.shared) {
			t.Errorf("%s: shared cores: got %s, want %s", name, a.SharedCores, c.shared)
		}
		if d := cmp.Diff(c.numa, a.NUMA); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
}

func TestMemoryPlaces(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"proc/1/numa_maps": "7f00 default anon=3 dirty=3 N0=1 N1=2 kernelpagesize_kB=4\n7f01 default file=/lib/N3=x N1=1 kernelpagesize_kB=2048\n",
		"proc/2/numa_maps": "7f00 default N0=1 kernelpagesize_kB=4\n",
	})
	got, err := memoryPlaces(root, []int{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[int]int64{0: 8 << 10, 1: 8<<10 + 2<<20}, got); d != "" {
		t.Error("-want +got:\n" + d)
	}
	if _, err := memoryPlaces(root, []int{3}); err == nil {
		t.Error("no error where no process can be read")
	}
}
