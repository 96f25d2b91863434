package topologymanager

import (
	"errors"
	"testing"

	"github.com/kqos/kqos/internal/machine"
)

func nodes(ids ...int) []machine.Node {
	list := make([]machine.Node, len(ids))
	for i, id := range ids {
		list[i].ID = id
		for range ids {
			list[i].Distances = append(list[i].Distances, 10)
		}
	}
	return list
}

// Every refusal to start, in the kubelet's words.
func TestNew(t *testing.T) {
	t.Parallel()
	nine := nodes(0, 1, 2, 3, 4, 5, 6, 7, 8)
	tests := []struct {
		name    string
		config  Config
		wantErr string
	}{
		{"none ignores everything else", Config{Policy: "none", Scope: "x", Options: map[string]string{"nope": ""}, Nodes: nine}, ""},
		{"restricted", Config{Policy: "restricted", Scope: "container", Nodes: nodes(0, 1)}, ""},
		{"nine nodes", Config{Policy: "restricted", Scope: "pod", Nodes: nine}, "unsupported on machines with more than 8 NUMA Nodes"},
		{"nine allowed", Config{Policy: "restricted", Scope: "pod", Nodes: nine, Options: map[string]string{OptionMaxNodes: "9"}}, ""},
		{"too few allowed", Config{Policy: "restricted", Scope: "pod", Options: map[string]string{OptionMaxNodes: "7"}}, `the minimum value of "max-allowable-numa-nodes" should not be less than 8`},
		{"no number", Config{Policy: "restricted", Scope: "pod", Options: map[string]string{OptionMaxNodes: "x"}}, `unable to convert policy option to integer "max-allowable-numa-nodes": strconv.Atoi: parsing "x": invalid syntax`},
		{"no bool", Config{Policy: "restricted", Scope: "pod", Options: map[string]string{OptionPreferClosest: "x"}}, `bad value for option "prefer-closest-numa-nodes": strconv.ParseBool: parsing "x": invalid syntax`},
		{"unknown option", Config{Policy: "restricted", Scope: "pod", Options: map[string]string{"nope": "x"}}, `unknown Topology Manager Policy option: "nope"`},
		{"no distances", Config{Policy: "best-effort", Scope: "pod", Options: map[string]string{OptionPreferClosest: "true"}, Nodes: []machine.Node{{}}}, "cannot discover NUMA topology: error getting NUMA distances from cadvisor"},
		{"unknown policy", Config{Policy: "strict", Scope: "pod"}, `unknown policy: "strict"`},
		{"unknown scope", Config{Policy: "restricted", Scope: "node"}, `unknown scope: "node"`},
		{"a node beyond a mask", Config{Policy: "restricted", Scope: "pod", Nodes: nodes(64)}, "NUMA node 64: bit number must be in range 0-63"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := New(test.config)
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || err.Error() != test.wantErr) {
				t.Errorf("error %v, want %q", err, test.wantErr)
			}
		})
	}
}

func TestMask(t *testing.T) {
	t.Parallel()
	m, err := MaskOf(0, 5, 63)
	if err != nil || m.String() != "0,5,63" || m.Count() != 3 || !m.Has(63) || m.Has(1) || m.Has(64) || m.Has(-1) {
		t.Errorf("mask %v of %d nodes, error %v", m, m.Count(), err)
	}
	if _, err := MaskOf(-1); err == nil {
		t.Error("node -1 was accepted")
	}
	var texts []string
	for s := range Subsets([]int{0, 2, 3}) {
		texts = append(texts, s.String())
	}
	want := []string{"0", "2", "3", "0,2", "0,3", "2,3", "0,2,3"}
	for i, w := range want {
		if len(texts) != len(want) || texts[i] != w {
			t.Fatalf("subsets %v, want %v", texts, want)
		}
	}
	if (Hint{}).String() != "any" || (Hint{m, true}).String() != "0,5,63+" {
		t.Errorf("hints read %v and %v", Hint{}, Hint{m, true})
	}
}

// What the kubelet cannot enumerate is told, not tried.
func TestEnumerable(t *testing.T) {
	t.Parallel()
	if err := Enumerable("memory", []int{0, 63}); err != nil {
		t.Error(err)
	}
	var many []int
	for i := range 23 {
		many = append(many, i)
	}
	for _, ids := range [][]int{{0, 64}, many} {
		if crash, ok := errors.AsType[*CrashError](Enumerable("memory", ids)); !ok || crash.Why == "" {
			t.Errorf("nodes %v: no crash", ids)
		}
	}
}
