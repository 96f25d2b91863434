package machine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const smallSnapshot = `
apiVersion: kqos.io/v1alpha1
kind: Machine
memory: 2147483648
cpus:
- {id: 1, core: 0, socket: 0, numa: 0, llc: 0, online: false}
- {id: 0, core: 0, socket: 0, numa: 0, llc: 0}
numa:
- {id: 0, memory: 2147483648, hugepages: {2Mi: 4}, distances: [10]}
devices:
- {resource: example.com/nic, id: b, numa: [0], healthy: false}
- {resource: example.com/nic, id: a}
`

func TestParseSnapshot(t *testing.T) {
	got, err := Parse(t.Context(), []byte(smallSnapshot))
	if err != nil {
		t.Fatal(err)
	}
	want := &Machine{
		APIVersion: APIVersion, Kind: Kind, Memory: 2 * gib,
		CPUs: []CPU{{ID: 0, Online: true}, {ID: 1}},
		NUMA: []Node{{Memory: 2 * gib, HugePages: map[string]int64{"2Mi": 4}, Distances: []int{10}, CPUs: "0"}},
		Devices: []Device{
			{Resource: "example.com/nic", ID: "a", Healthy: true},
			{Resource: "example.com/nic", ID: "b", NUMA: []int{0}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("machine (-want +got):\n%s", diff)
	}
}

func TestParseSnapshotNotesUnknownFields(t *testing.T) {
	m, err := Parse(t.Context(), []byte(smallSnapshot+"colour: blue\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`unknown field "colour": left aside`}, m.Assumptions); diff != "" {
		t.Errorf("assumptions (-want +got):\n%s", diff)
	}
}

func TestParseSnapshotRefuses(t *testing.T) {
	tests := []struct{ name, old, new, want string }{
		{"no cpus", "- {id: 1, core: 0, socket: 0, numa: 0, llc: 0, online: false}\n- {id: 0, core: 0, socket: 0, numa: 0, llc: 0}", " []", "at least one CPU"},
		{"double cpu", "id: 1, core", "id: 0, core", "CPU 0 stands twice"},
		{"cpu id", "id: 1, core", "id: 70000, core", "70000 is not between 0 and 65535"},
		{"text for a number", "id: 1, core", "id: one, core", "cannot unmarshal string"},
		{"missing node", "llc: 0}\nnuma", "llc: 0}\n- {id: 2, numa: 5}\nnuma", "NUMA node 5, which is not in numa"},
		{"distances", "distances: [10]}", "distances: [10]}\n- {id: 1, memory: 1}", "1 distances for 2 nodes"},
		{"page size", "{2Mi: 4}", "{2MB: 4}", "not a page size"},
		{"pages overflow", "{2Mi: 4}", "{2Mi: 9223372036854775807}", "more than a machine can hold"},
		{"negative memory", "numa:\n- {id: 0, memory: 2", "numa:\n- {id: 0, memory: -2", "negative"},
		{"nameless device", "id: a", "id: ''", "resource and id must be given"},
		{"device node", "numa: [0]", "numa: [-1]", "leave numa out"},
		{"later version", "kqos.io/v1alpha1", "kqos.io/v9", "not known: this kqos reads kqos.io/v1alpha1"},
		{"another kind", "kind: Machine", "kind: Pod", "kind Pod is not a machine"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(smallSnapshot, tt.old, tt.new, 1)
			if text == smallSnapshot {
				t.Fatal("the case changes nothing")
			}
			_, err := Parse(t.Context(), []byte(text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestSnapshotReadsBackWhatItWrote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numa := rapid.IntRange(1, 4).Draw(t, "numa")
		threads := rapid.IntRange(1, 2).Draw(t, "threads")
		m := (&totals{sockets: 1, numa: numa, llc: numa, cores: numa * 2, threads: threads, distances: usualDistances()}).machine()
		for i := range m.CPUs {
			m.CPUs[i].Online = i == 0 || rapid.Bool().Draw(t, "online")
		}
		if err := m.finish(); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseSnapshot(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, got); diff != "" {
			t.Fatalf("machine (-want +got):\n%s", diff)
		}
	})
}

func FuzzParseSnapshot(f *testing.F) {
	f.Add([]byte(smallSnapshot))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := Parse(t.Context(), data); err == nil && m.Validate() != nil {
			t.Errorf("read an invalid machine: %v", m.Validate())
		}
	})
}
