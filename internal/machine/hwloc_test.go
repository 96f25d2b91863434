package machine

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseHwloc(t *testing.T) {
	data, err := os.ReadFile("testdata/hwloc.xml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(t.Context(), gzipped(t, data))
	if err != nil {
		t.Fatal(err)
	}
	one := 1
	zero := 0
	want := &Machine{
		APIVersion: APIVersion, Kind: Kind, Memory: 7 << 30,
		CPUs: []CPU{
			{ID: 0, Online: true, Type: Performance, Die: &zero},
			{ID: 1, Online: true, Type: Efficiency, Core: 1, Die: &one, LLC: 1},
			{ID: 2, Online: true, Type: Performance, Socket: 1, NUMA: 1, LLC: 2},
			{ID: 3, Core: -1, Socket: -1, NUMA: -1, LLC: -1},
			{ID: 34, Online: true, Type: Performance, Die: &zero},
		},
		NUMA: []Node{
			{ID: 0, Memory: 2 << 30, HugePages: map[string]int64{"2Mi": 5}, Distances: []int{10, 20, 30}, CPUs: "0-1,34"},
			{ID: 1, Memory: 4 << 30, Distances: []int{20, 10, 40}, CPUs: "2"},
			{ID: 7, Memory: 1 << 30, Distances: []int{30, 40, 10}},
		},
		Caches: []Cache{{Level: 2, Size: 2 << 20, CPUs: "0,34"}, {Level: 3, Size: 8 << 20, CPUs: "0,34"}, {Level: 3, Size: 8 << 20, CPUs: "1"}, {Level: 3, Size: 8 << 20, CPUs: "2"}},
		PCI: []PCIDevice{
			{Address: "0000:3b:00.0", Class: "network", Vendor: "14e4", Device: "1639", NUMA: 0, Names: []string{"eth0", "mlx5_0"}},
			{Address: "0000:5e:00.0", Class: "gpu", Vendor: "10de", Device: "20b5", NUMA: -1},
		},
		Assumptions: []string{
			"CPUs that the XML does not describe are taken for offline; whoever exported it may also have been kept from them by a cgroup",
			"memory: the sum over the NUMA nodes, as the XML does not tell MemTotal",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("machine (-want +got):\n%s", diff)
	}
}

// hwloc leaves a node without memory out, and with it the place of its CPUs.
func TestParseHwlocWithoutPlace(t *testing.T) {
	m, err := Parse(t.Context(), []byte(`<topology version="2.0"><object type="Machine" cpuset="0x3">
	 <object type="NUMANode" os_index="1" cpuset="0x1" local_memory="1024"/>
	 <object type="PU" os_index="0" cpuset="0x1"/><object type="PU" os_index="1" cpuset="0x2"/></object>
	 <distances2 type="NUMANode" nbobjs="1" kind="9" indexing="os"><indexes length="2">1 </indexes><u64values length="11">9000000000 </u64values></distances2></topology>`))
	if err != nil {
		t.Fatal(err)
	}
	if m.CPUs[1].NUMA != 1 || !m.CPUs[1].Online || m.NUMA[0].Distances != nil {
		t.Errorf("CPU 1 is on node %d, online %v; distances %v", m.CPUs[1].NUMA, m.CPUs[1].Online, m.NUMA[0].Distances)
	}
	if want := "local to no NUMA node"; !strings.Contains(strings.Join(m.Assumptions, "\n"), want) {
		t.Errorf("assumptions are %q, want one with %q", m.Assumptions, want)
	}
}

// hwloc 1 put caches, nodes and sockets under other names.
func TestParseHwloc1(t *testing.T) {
	m, err := Parse(t.Context(), []byte(`<topology><object type="Machine" cpuset="0x3" complete_cpuset="0x3">
	 <object type="NUMANode" os_index="3" cpuset="0x3" local_memory="1024"><page_type size="4096" count="1"/>
	  <object type="Socket" os_index="5" cpuset="0x3"><object type="Cache" depth="2" cache_size="1024" cpuset="0x3">
	   <object type="Core" os_index="0" cpuset="0x3"><object type="PU" os_index="0" cpuset="0x1"/><object type="PU" os_index="1" cpuset="0x2"/></object>
	 </object></object></object></object></topology>`))
	if err != nil {
		t.Fatal(err)
	}
	none := NoUncore
	want := []CPU{{ID: 0, Online: true, Socket: 5, NUMA: 3, LLC: 0}, {ID: 1, Online: true, Socket: 5, NUMA: 3, LLC: 0}}
	if diff := cmp.Diff(want, m.CPUs); diff != "" {
		t.Errorf("CPUs (-want +got):\n%s", diff)
	}
	if got := m.UncoreCaches()[0]; got != none {
		t.Errorf("uncore cache %d: a cache of level 2 is none", got)
	}
}

func TestParseHwlocRefuses(t *testing.T) {
	data, err := os.ReadFile("testdata/hwloc.xml")
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat(`<object type="Group">`, maxXMLDepth+1)
	tests := []struct{ name, old, new, want string }{
		{"entity bomb", `<!DOCTYPE topology SYSTEM "hwloc2.dtd">`, `<!DOCTYPE t [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><topology><object type="&b;"/></topology>`, "invalid character entity &b;"},
		{"cut off", `</topology>`, "", "unexpected EOF"},
		{"other XML", `<topology version="3.0">`, `<html>`, "not an export of hwloc"},
		{"deep", `<topology version="3.0">`, `<topology version="3.0">` + deep, "elements in one another"},
		{"cpuset", `os_index="1" cpuset="0x4" nodeset="0x2" local`, `os_index="1" cpuset="0xq" local`, "is not a word of 32 bits"},
		{"infinite cpuset", `os_index="1" cpuset="0x4" nodeset="0x2" local`, `os_index="1" cpuset="0xf...f" local`, "is not a word of 32 bits"},
		{"huge cpuset", `complete_cpuset="`, `complete_cpuset="1` + strings.Repeat(",", 5000), "is too long"},
		{"PU", `type="PU" os_index="0"`, `type="PU" os_index="4294967296"`, "is not a number between"},
		{"double PU", `type="PU" os_index="1"`, `type="PU" os_index="0"`, "stands twice"},
		{"double node", `type="NUMANode" os_index="7"`, `type="NUMANode" os_index="0"`, "node 0 stands twice"},
		{"distances", `40 10 </u64values>`, `40 </u64values>`, "8 distances between 3 NUMA nodes"},
		{"distance", `40 10 </u64values>`, `40 -1 </u64values>`, `"-1" is not a number`},
		{"no PU", `type="PU"`, `type="Misc"`, "no PU in it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			count := 1
			if tt.name == "no PU" {
				count = -1
			}
			text := strings.Replace(string(data), tt.old, tt.new, count)
			if text == string(data) {
				t.Fatal("the case changes nothing")
			}
			_, err := Parse(t.Context(), []byte(text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func FuzzParseHwloc(f *testing.F) {
	data, err := os.ReadFile("testdata/hwloc.xml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := parseHwloc(data); err == nil && m.Validate() != nil {
			t.Errorf("read an invalid machine: %v", m.Validate())
		}
	})
}
