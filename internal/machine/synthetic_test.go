package machine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSyntheticTotals(t *testing.T) {
	m, err := ParseSynthetic("synthetic:sockets=2,numa=4,llc=4,cores=8,threads=2,memory=64Gi,hugepages-1Gi=6")
	if err != nil {
		t.Fatal(err)
	}
	want := []Node{
		{ID: 0, Memory: 16 * gib, CPUs: "0-1,8-9", Distances: []int{10, 11, 21, 21}, HugePages: map[string]int64{"1Gi": 2}},
		{ID: 1, Memory: 16 * gib, CPUs: "2-3,10-11", Distances: []int{11, 10, 21, 21}, HugePages: map[string]int64{"1Gi": 2}},
		{ID: 2, Memory: 16 * gib, CPUs: "4-5,12-13", Distances: []int{21, 21, 10, 11}, HugePages: map[string]int64{"1Gi": 1}},
		{ID: 3, Memory: 16 * gib, CPUs: "6-7,14-15", Distances: []int{21, 21, 11, 10}, HugePages: map[string]int64{"1Gi": 1}},
	}
	if diff := cmp.Diff(want, m.NUMA); diff != "" {
		t.Errorf("numa (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(CPU{ID: 14, Core: 2, Socket: 1, NUMA: 3, LLC: 3, Online: true}, m.CPUs[14]); diff != "" {
		t.Errorf("CPU 14 (-want +got):\n%s", diff)
	}
}

func TestParseSyntheticCompact(t *testing.T) {
	m, err := ParseSynthetic("sockets=2,numa=2,cores=4,threads=2,numbering=compact")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(CPU{ID: 5, Core: 0, Socket: 1, NUMA: 1, LLC: 0, Online: true}, m.CPUs[5]); diff != "" {
		t.Errorf("CPU 5 (-want +got):\n%s", diff)
	}
	if m.Memory != 4*gib {
		t.Errorf("memory is %d, want 1Gi a core", m.Memory)
	}
	want := []string{
		"memory: 1Gi a core, as none is given",
		"one last level cache over all sockets, as none is given: say llc=2 for one a socket",
	}
	if diff := cmp.Diff(want, m.Assumptions); diff != "" {
		t.Errorf("assumptions (-want +got):\n%s", diff)
	}
}

func TestParseSyntheticHwloc(t *testing.T) {
	tests := []struct {
		text   string
		nodes  []string // CPUs of each
		cpu    int
		want   CPU
		memory int64
	}{
		{"pack:2 numa:2 l3:2 core:8 pu:2", []string{"0-31", "32-63", "64-95", "96-127"}, 67, CPU{ID: 67, Core: 1, Socket: 1, NUMA: 2, LLC: 4}, 64 * gib},
		{"Package:2 [NUMANode(memory=4GB)] L3Cache:1(size=32MB) L2Cache:2 Core:1 PU:2(indexes=2*4:1*2)", []string{"0-1,4-5", "2-3,6-7"}, 6, CPU{ID: 6, Core: 0, Socket: 1, NUMA: 1, LLC: 1}, 8 * gib},
		{"numa:2(indexes=1,0) l3:1 core:2 pu:1(indexes=numa:core)", []string{"1,3", "0,2"}, 2, CPU{ID: 2, Core: 1, NUMA: 1, LLC: 0}, 4 * gib},
		{"socket:1 l3:2 core:2", []string{"0-3"}, 3, CPU{ID: 3, Core: 3, LLC: 1}, 4 * gib},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			m, err := ParseSynthetic(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			var nodes []string
			for _, n := range m.NUMA {
				nodes = append(nodes, n.CPUs)
			}
			if diff := cmp.Diff(tt.nodes, nodes); diff != "" {
				t.Errorf("CPUs of the nodes (-want +got):\n%s", diff)
			}
			tt.want.Online = true
			if diff := cmp.Diff(tt.want, m.CPUs[tt.cpu]); diff != "" {
				t.Errorf("CPU (-want +got):\n%s", diff)
			}
			if m.Memory != tt.memory {
				t.Errorf("memory is %d, want %d", m.Memory, tt.memory)
			}
		})
	}
}

func TestParseSyntheticRefuses(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "nothing described"},
		{"sockets=3,cores=4", "cannot be spread evenly over sockets=3"},
		{"sockets=2,numa=3,cores=6", "one must be a multiple of the other"},
		{"sockets=2,sockets=2", "give each key once"},
		{"cores=65535,threads=2", "more than 65535 CPUs"},
		{"cores=-1", "not a number between"},
		{"nodes=2", "unknown key"},
		{"memory=9Ei", "not an amount"},
		{"hugepages-2Mo=1", "not a page size"},
		{"numbering=odd", "numbering is linux"},
		{"pack:2 brick:2", "unknown word"},
		{"pack", "say how many"},
		{"pack:4096 core:4096", "more than 65535 objects"},
		{"core:2 pu:2(indexes=0,1,1,2)", "gives a number twice"},
		{"core:2 pu:2(indexes=0,1)", "2 numbers for 4 objects"},
		{"core:3 pu:2(indexes=1*4)", "covers 4 of 6 objects"},
		{"core:2 [pu]", "only NUMA nodes"},
	}
	for _, tt := range tests {
		_, err := ParseSynthetic(tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ParseSynthetic(%q): got %v, want an error with %q", tt.text, err, tt.want)
		}
	}
}

func FuzzParseSynthetic(f *testing.F) {
	f.Add("sockets=2,numa=4,llc=8,cores=64,threads=2,memory=512Gi,numbering=compact")
	f.Add("Package:2 [NUMANode(memory=4GB)] L3Cache:1(size=32MB) Core:2 PU:2(indexes=2*4:1*2)")
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := ParseSynthetic(text); err == nil && m.Validate() != nil {
			t.Errorf("made an invalid machine: %v", m.Validate())
		}
	})
}
