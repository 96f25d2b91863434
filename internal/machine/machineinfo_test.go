package machine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// One socket of two uncore caches, one socket whose cache is the node's; the
// counts are those of /proc/cpuinfo and contradict.
const machineInfoV49 = `{
 "num_cores": 6, "num_sockets": 3, "memory_capacity": 2048, "swap_capacity": 512,
 "hugepages": [{"page_size": 2048, "num_pages": 9}],
 "topology": [
  {"node_id": 0, "memory": 1024, "hugepages": [{"page_size": 2048, "num_pages": 4}], "distances": [10, 21],
   "caches": null,
   "cores": [
    {"core_id": 0, "thread_ids": [4, 0], "socket_id": 0, "uncore_caches": [{"id": 3, "size": 4096, "type": "Unified", "level": 3}]},
    {"core_id": 1, "thread_ids": [1], "socket_id": 0, "uncore_caches": [{"id": 5, "size": 4096, "type": "Unified", "level": 3}]}]},
  {"node_id": 1, "memory": 1024, "hugepages": [{"page_size": 2048, "num_pages": 5}], "distances": [21, 10],
   "caches": [{"id": 3, "size": 8192, "type": "Unified", "level": 3}],
   "cores": [
    {"core_id": 0, "thread_ids": [2], "socket_id": 1, "uncore_caches": null},
    {"core_id": 1, "thread_ids": [3], "socket_id": 1, "uncore_caches": null}]}]}`

func TestParseMachineInfo(t *testing.T) {
	got, err := Parse(t.Context(), []byte(machineInfoV49))
	if err != nil {
		t.Fatal(err)
	}
	swap, three, five := int64(512), 3, 5
	want := &Machine{
		APIVersion: APIVersion, Kind: Kind, Memory: 2048, Swap: &swap, Counts: &Counts{CPUs: 6, Sockets: 3},
		CPUs: []CPU{
			// Two caches have the id 3, so the hardware's get numbers of their own.
			{ID: 0, Online: true, LLC: 0, Uncore: &three},
			{ID: 1, Online: true, Core: 1, LLC: 1, Uncore: &five},
			{ID: 2, Online: true, Socket: 1, NUMA: 1, LLC: 2},
			{ID: 3, Online: true, Socket: 1, NUMA: 1, Core: 1, LLC: 2},
			{ID: 4, Online: true, LLC: 0, Uncore: &three},
		},
		NUMA: []Node{
			{ID: 0, Memory: 1024, HugePages: map[string]int64{"2Mi": 4}, Distances: []int{10, 21}, CPUs: "0-1,4"},
			{ID: 1, Memory: 1024, HugePages: map[string]int64{"2Mi": 5}, Distances: []int{21, 10}, CPUs: "2-3"},
		},
		Caches: []Cache{{Level: 3, Size: 4096, CPUs: "0,4"}, {Level: 3, Size: 4096, CPUs: "1"}, {Level: 3, Size: 8192, CPUs: "2-3"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("machine (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[int]int{0: 3, 4: 3, 1: 5, 2: NoUncore, 3: NoUncore}, got.UncoreCaches()); diff != "" {
		t.Errorf("uncore caches (-want +got):\n%s", diff)
	}
}

// The first generations know neither sockets, ids of caches, distances nor swap.
func TestParseMachineInfoOfOldGeneration(t *testing.T) {
	old := `{"num_cores": 2, "memory_capacity": 0, "topology": [
	 {"node_id": 0, "memory": 1024, "cores": [{"core_id": 0, "thread_ids": [0], "caches": null}], "caches": [{"size": 1024, "type": "Unified", "level": 3}]},
	 {"node_id": 1, "memory": 1024, "cores": [{"core_id": 0, "thread_ids": [1], "caches": null}], "caches": [{"size": 1024, "type": "Unified", "level": 3}]}]}`
	m, err := Parse(t.Context(), []byte(old))
	if err != nil {
		t.Fatal(err)
	}
	if m.NumSockets() != 2 || m.Memory != 2048 || m.Swap != nil {
		t.Errorf("sockets %d, memory %d, swap %v", m.NumSockets(), m.Memory, m.Swap)
	}
	want := []string{
		"sockets: one for each NUMA node, as this generation of cadvisor does not tell",
		"memory: the sum over the NUMA nodes, as the MachineInfo does not tell MemTotal",
	}
	if diff := cmp.Diff(want, m.Assumptions); diff != "" {
		t.Errorf("assumptions (-want +got):\n%s", diff)
	}
}

func TestParseMachineInfoWithoutTopology(t *testing.T) {
	m, err := Parse(t.Context(), []byte(`{"num_cores": 3, "memory_capacity": 1024, "topology": null}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Node{{Memory: 1024, CPUs: "0-2"}}, m.NUMA); diff != "" {
		t.Errorf("numa (-want +got):\n%s", diff)
	}
	if len(m.Assumptions) != 1 || !strings.Contains(m.Assumptions[0], "has no topology") {
		t.Errorf("assumptions are %q", m.Assumptions)
	}
}

func TestParseMachineInfoRefuses(t *testing.T) {
	tests := []struct{ old, new, want string }{
		{`"node_id": 1`, `"node_id": 0`, "node 0 stands twice"},
		{`"memory": 1024`, `"memory": 18446744073709551615`, "more than a machine can hold"},
		{`"memory": 1024`, `"memory": -1`, "cannot unmarshal number -1"},
		{`"thread_ids": [1]`, `"thread_ids": [99999]`, "99999 is not between"},
		{`"distances": [10, 21]`, `"distances": [10]`, "1 distances for 2 nodes"},
	}
	for _, tt := range tests {
		_, err := Parse(t.Context(), []byte(strings.Replace(machineInfoV49, tt.old, tt.new, 1)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.new, err, tt.want)
		}
	}
}

func FuzzParseMachineInfo(f *testing.F) {
	f.Add([]byte(machineInfoV49))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := parseMachineInfo(data); err == nil && m.Validate() != nil {
			t.Errorf("read an invalid machine: %v", m.Validate())
		}
	})
}
