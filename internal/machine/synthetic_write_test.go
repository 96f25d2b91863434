package machine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSyntheticMakesTheMachineAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sockets := rapid.IntRange(1, 3).Draw(t, "sockets")
		numa := sockets * rapid.IntRange(1, 3).Draw(t, "numa per socket")
		llc := numa * rapid.IntRange(1, 2).Draw(t, "llc per node")
		want := (&totals{
			sockets: sockets, numa: numa, llc: llc, cores: llc * rapid.IntRange(1, 3).Draw(t, "cores per llc"),
			threads:   rapid.IntRange(1, 2).Draw(t, "threads"),
			memory:    rapid.SliceOfN(rapid.Int64Range(1, 1<<40), numa, numa).Draw(t, "memory"),
			hugePages: map[string][]int64{"2Mi": rapid.SliceOfN(rapid.Int64Range(0, 9), numa, numa).Draw(t, "pages")},
			memTotal:  rapid.SampledFrom([]int64{0, 1 << 30}).Draw(t, "memtotal"),
			swap:      rapid.SampledFrom([]*int64{nil, new(int64)}).Draw(t, "swap"),
			distances: rapid.SampledFrom([]slit{{}, usualDistances(), {10, 12, 32}}).Draw(t, "distances"),
			numbering: rapid.SampledFrom([]string{"", numberingCompact, numberingInterleaved}).Draw(t, "numbering"),
		}).machine()
		if err := want.finish(); err != nil {
			t.Fatal(err)
		}
		text, err := want.Synthetic()
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseSynthetic(text)
		if err != nil {
			t.Fatal(err)
		}
		got.Source, got.Assumptions = "", nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", text, diff)
		}
	})
}

func TestSyntheticOfOddNumbering(t *testing.T) {
	const text = "synthetic:pack:2(indexes=0,1) numa:1(memory=2147483648 indexes=0,1) l3:1 core:2 pu:2(indexes=7,0,3,4,6,1,2,5)"
	m, err := ParseSynthetic(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := m.Synthetic()
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseSynthetic(again)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.sameAs(got); err != nil {
		t.Errorf("%s is not the machine of %s: %v", again, text, err)
	}
}

func TestSyntheticSaysWhyNot(t *testing.T) {
	base := func() *Machine {
		m, err := ParseSynthetic("sockets=2,numa=2,llc=2,cores=4,threads=2")
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	tests := []struct {
		want   string
		change func(*Machine)
	}{
		{"CPU 3 is offline", func(m *Machine) { m.CPUs[3].Online = false }},
		{"the kubelet does not see CPU 3", func(m *Machine) { m.CPUs[3].Online, m.CPUs[3].Hidden = false, "masked" }},
		{"cores are of two kinds", func(m *Machine) { m.CPUs[0].Type = Efficiency }},
		{"different numbers of threads", func(m *Machine) { m.CPUs = m.CPUs[:7] }},
		{"NUMA node 2 has no CPUs", func(m *Machine) { m.NUMA = append(m.NUMA, Node{ID: 2}) }},
		{"there is no NUMA node 1", func(m *Machine) { m.NUMA[1].ID = 5 }},
		{"devices, such as example.com/nic", func(m *Machine) { m.Devices = []Device{{Resource: "example.com/nic", ID: "a"}} }},
		{"distances of NUMA node 0 are not regular", func(m *Machine) { m.NUMA[1].Distances = []int{10, 99} }},
		{"cAdvisor sees the cache of CPU 0 otherwise", func(m *Machine) { three := 3; m.CPUs[0].Uncore = &three }},
	}
	for _, tt := range tests {
		m := base()
		tt.change(m)
		text, err := m.Synthetic()
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %s, %v, want an error with %q", text, err, tt.want)
		}
	}
}
