package machine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/cpuset"
)

const nrtAlpha1 = `
apiVersion: topology.node.k8s.io/v1alpha1
kind: NodeResourceTopology
metadata: {name: worker-1}
topologyPolicies: [SingleNUMANodeContainerLevel]
zones:
- name: node-0
  type: Node
  costs: [{name: node-0, value: 10}, {name: node-1, value: 21}]
  resources:
  - {name: cpu, capacity: 4, allocatable: 2, available: 2}
  - {name: memory, capacity: 8Gi, allocatable: 7Gi, available: 7Gi}
  - {name: hugepages-2Mi, capacity: 1Gi, allocatable: 1Gi, available: 1Gi}
- name: node-1
  type: Node
  costs: [{name: node-0, value: 21}, {name: node-1, value: 10}]
  resources:
  - {name: cpu, capacity: "2", allocatable: "2", available: "2"}
  - {name: memory, capacity: 8Gi, allocatable: 7Gi, available: 7Gi}
  - {name: example.com/nic, capacity: "2", allocatable: "2", available: "1"}
`

func TestParseNRT(t *testing.T) {
	m, err := Parse(t.Context(), []byte(nrtAlpha1))
	if err != nil {
		t.Fatal(err)
	}
	want := []Node{
		{ID: 0, Memory: 8 * gib, HugePages: map[string]int64{"2Mi": 512}, Distances: []int{10, 21}, CPUs: "0-3"},
		{ID: 1, Memory: 8 * gib, Distances: []int{21, 10}, CPUs: "4-5"},
	}
	if diff := cmp.Diff(want, m.NUMA); diff != "" {
		t.Errorf("numa (-want +got):\n%s", diff)
	}
	devices := []Device{
		{Resource: "example.com/nic", ID: "node-1-0", NUMA: []int{1}, Healthy: true},
		{Resource: "example.com/nic", ID: "node-1-1", NUMA: []int{1}, Healthy: true},
	}
	if diff := cmp.Diff(devices, m.Devices); diff != "" {
		t.Errorf("devices (-want +got):\n%s", diff)
	}
	if len(m.Assumptions) != 2 {
		t.Errorf("assumptions are %q, want one on CPUs and one on memory", m.Assumptions)
	}
}

func TestNRTReadsBackWhatItWrote(t *testing.T) {
	want, err := ParseSynthetic("sockets=2,numa=4,llc=8,cores=16,threads=2,hugepages-1Gi=8")
	if err != nil {
		t.Fatal(err)
	}
	want.Devices = []Device{{Resource: "example.com/nic", ID: "node-2-0", NUMA: []int{2}, Healthy: true}}
	data, err := json.Marshal(want.NRT("n", cpuset.New(0, 16)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	got.Assumptions, got.Source = want.Assumptions, want.Source
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("machine (-want +got):\n%s", diff)
	}
}

func TestNRTAllocatable(t *testing.T) {
	m, err := ParseSynthetic("numa=2,cores=4,memory=4Gi,hugepages-1Gi=2")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range m.NRT("n", cpuset.New(0)).Zones[0].Resources {
		got[r.Name] = r.Capacity.String() + " " + r.Allocatable.String()
	}
	want := map[string]string{"cpu": "2 1", "memory": "2Gi 1Gi", "hugepages-1Gi": "1Gi 1Gi"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("capacity and allocatable (-want +got):\n%s", diff)
	}
}

func TestParseNRTRefuses(t *testing.T) {
	tests := []struct{ name, old, new, want string }{
		{"zone name", "name: node-1\n", "name: far\n", `zones[1].name: "far" does not end in a node's number`},
		{"amount", "capacity: 8Gi", "capacity: much", `zones[0].resources[1].capacity: "much" is not an amount`},
		{"many CPUs", "capacity: 4,", "capacity: 400000,", "400000 CPUs are more than a node can hold"},
		{"page size", "hugepages-2Mi", "hugepages-2Mo", `"2Mo" is not a page size`},
		{"many devices", `nic, capacity: "2"`, `nic, capacity: "2e9"`, "more than a node can hold"},
		{"double zone", "name: node-1\n", "name: other-0\n", "node 0 stands twice"},
	}
	for _, tt := range tests {
		_, err := Parse(t.Context(), []byte(strings.Replace(nrtAlpha1, tt.old, tt.new, 1)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.name, err, tt.want)
		}
	}
	two := "kind: List\nitems:\n- {kind: NodeResourceTopology, zones: []}\n- {kind: NodeResourceTopology, zones: []}\n"
	if _, err := Parse(t.Context(), []byte(two)); err == nil || !strings.Contains(err.Error(), "a list of 2 objects") {
		t.Errorf("list: got %v", err)
	}
}

func FuzzParseNRT(f *testing.F) {
	f.Add([]byte(nrtAlpha1))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := parseNRT(data); err == nil && m.Validate() != nil {
			t.Errorf("read an invalid machine: %v", m.Validate())
		}
	})
}
