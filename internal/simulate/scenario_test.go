package simulate

import (
	"strings"
	"testing"
)

const smallMachine = `{"cpus":[{"id":0,"core":0,"socket":0,"numa":0,"llc":0},{"id":1,"core":1,"socket":0,"numa":0,"llc":0}],"numa":[{"id":0,"memory":1073741824}]}`

func TestReadScenarios(t *testing.T) {
	t.Parallel()
	pod := `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]}}`
	tests := []struct {
		name, file string
		wantErr    string
		count      int
		list       bool
	}{
		{name: "single", file: `{"name":"a","machine":` + smallMachine + `,"events":[{"op":"add","pod":` + pod + `}]}`, count: 1},
		{name: "YAML", file: "name: a\nmachine: " + smallMachine + "\nevents:\n- op: restart\n", count: 1},
		{name: "array", file: `[{"name":"a","machine":` + smallMachine + `,"events":[]},{"name":"b","machine":` + smallMachine + `}]`, count: 2, list: true},
		{name: "set", file: `{"theme":"x","machines":{"m":` + smallMachine + `},"cases":[{"scenario":{"name":"a","machine":"m"},"result":{}}]}`, count: 1, list: true},
		{name: "empty", file: "  \n", wantErr: "the file is empty"},
		{name: "no scenario", file: `{"cases":[{}]}`, wantErr: "cases[0]: no scenario", list: true},
		{name: "number", file: `7`, wantErr: "is no scenario"},
		{name: "no machine", file: `{"name":"a","events":[]}`, wantErr: "a: machine: missing"},
		{name: "other machine", file: `{"name":"a","machine":"m"}`, wantErr: `a: machine: "m" is not among the set's machines`},
		{name: "machine without CPUs", file: `{"name":"a","machine":{"numa":[]}}`, wantErr: "a: machine: cpus: a machine has at least one CPU"},
		{name: "unknown field", file: `{"name":"a","machine":` + smallMachine + `,"evnets":[]}`, wantErr: `unknown field "evnets"`},
		{name: "unknown field of a machine", file: `{"name":"a","machine":{"cpus":[{"id":0}],"numa":[{"id":0}],"nodes":[]}}`, wantErr: `unknown field "nodes"`},
		{name: "unknown field of a pod", file: `{"name":"a","machine":` + smallMachine + `,"events":[{"op":"add","pod":{"spec":{"container":[]}}}]}`, wantErr: `events[0]: pod: unknown field "spec.container"`},
		{name: "unknown operation", file: `{"name":"a","machine":` + smallMachine + `,"events":[{"op":"kill"}]}`, wantErr: `events[0]: op "kill": must be add, remove or restart`},
		{name: "added twice", file: `{"name":"a","machine":` + smallMachine + `,"events":[{"op":"add","pod":` + pod + `},{"op":"add","pod":` + pod + `}]}`, wantErr: `events[1]: pod "p" was added before`},
		{name: "same UID", file: `{"name":"a","machine":` + smallMachine + `,"events":[{"op":"add","pod":` + pod + `},{"op":"add","pod":{"metadata":{"name":"q","uid":"p"},"spec":{"containers":[{"name":"c"}]}}}]}`, wantErr: `events[1]: pod "q" has the UID of the pod of events[0]`},
		{name: "nameless", file: `{"name":"a","machine":` + smallMachine + `,"events":[{"op":"add","pod":{"spec":{"containers":[{"name":"c"}]}}}]}`, wantErr: "metadata.name is missing"},
		{name: "removed but never added", file: `{"name":"a","machine":` + smallMachine + `,"events":[{"op":"remove","pod":"p"}]}`, wantErr: `events[0]: pod "p" was never added`},
		{name: "remove without a name", file: `{"name":"a","machine":` + smallMachine + `,"events":[{"op":"remove"}]}`, wantErr: "events[0]: pod: give the name"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, list, err := ReadScenarios([]byte(test.file))
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("error %v, want %q", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != test.count || list != test.list {
				t.Errorf("got %d scenarios, list %t; want %d, %t", len(got), list, test.count, test.list)
			}
		})
	}
}

// A scenario that cannot be read costs only itself.
func TestReadScenariosKeepsTheGoodOnes(t *testing.T) {
	t.Parallel()
	got, _, err := ReadScenarios([]byte(`[{"name":"a","machine":` + smallMachine + `},{"name":"b"},{"name":"c","machine":` + smallMachine + `}]`))
	if err == nil || !strings.HasPrefix(err.Error(), "scenario 2: b: machine: missing") {
		t.Errorf("error %v", err)
	}
	if len(got) != 3 || got[0] == nil || got[1] != nil || got[2] == nil {
		t.Errorf("got %v", got)
	}
}

// Whatever is read is also played, without a crash of kqos itself.
func FuzzReadScenarios(f *testing.F) {
	f.Add([]byte(`{"name":"a","machine":` + smallMachine + `,"kubelet":{"cpuManagerPolicy":"static","kubeReserved":{"cpu":"1"},"topologyManagerPolicy":"restricted"},` +
		`"events":[{"op":"add","pod":{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]}}},{"op":"restart","files":{"cpu_manager_state":null}},{"op":"remove","pod":"p"}]}`))
	f.Add([]byte("- name: a\n  machine: {cpus: [{id: 3}], numa: [{id: 0, memory: 5, hugepages: {2Mi: 1}}], devices: [{resource: v/d, id: x, numa: [9]}], preferred: [v/d]}\n  kubelet: {memoryManagerPolicy: Static, reservedMemory: [{numaNode: 0, limits: {memory: 100Mi}}]}\n  events: [{op: restart, files: {memory_manager_state: '{}'}, pluginsFirst: true}]\n"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		scenarios, _, err := ReadScenarios(data)
		if err != nil || len(scenarios) > 4 {
			return
		}
		for _, s := range scenarios {
			Run(s, Options{Explain: true})
		}
	})
}
