package simulate

import (
	"slices"
	"testing"
)

// A failed start of which the kubelet names any of several reasons says so.
func TestStartLeftToChance(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, kubelet string
		stage         string
		chance        bool
	}{
		{"one option", `"cpuManagerPolicyOptions":{"nope":"true"}`, StageCPU, false},
		{"two options", `"cpuManagerPolicyOptions":{"nope":"true","align-by-socket":"true"}`, StageCPU, true},
		{"options that exclude each other", `"cpuManagerPolicyOptions":{"distribute-cpus-across-numa":"true","prefer-align-cpus-by-uncorecache":"true"}`, StageCPU, false},
		{"topology options", `"topologyManagerPolicy":"restricted","topologyManagerPolicyOptions":{"max-allowable-numa-nodes":"1","prefer-closest-numa-nodes":"x"}`, StageTopology, true},
		{"memory", `"memoryManagerPolicy":"Static"`, StageMemory, false},
		{"memory and huge pages", `"memoryManagerPolicy":"Static","reservedMemory":[{"numaNode":0,"limits":{"hugepages-2Mi":"2Mi"}}]`, StageMemory, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			scenarios, _, err := ReadScenarios([]byte(`{"name":"a","machine":` + smallMachine + `,"kubelet":{"cpuManagerPolicy":"static","kubeReserved":{"cpu":"1","memory":"100Mi"},` + test.kubelet + `}}`))
			if err != nil {
				t.Fatal(err)
			}
			r := Run(scenarios[0], Options{})
			if r.StartError == nil || r.StartError.Stage != test.stage || slices.Contains(r.Arbitrary, chanceResult) != test.chance {
				t.Errorf("got %+v, arbitrary %v; want stage %s, chance %t", r.StartError, r.Arbitrary, test.stage, test.chance)
			}
		})
	}
}

// TestChanceAfterAFailedRestart plays restarts that fail while and before the
// memory manager is made, with a file of several members behind.
func TestChanceAfterAFailedRestart(t *testing.T) {
	for _, kubelet := range []string{
		`{"memoryManagerPolicy":"nope"}`, `{"cpuManagerPolicy":"nope"}`, `{"topologyManagerPolicy":"restricted","topologyManagerPolicyOptions":{"nope":"true"}}`,
	} {
		scenarios, _, err := ReadScenarios([]byte(`{"name":"s",
			"machine":{"cpus":[{"id":0,"core":0,"socket":0,"numa":0,"llc":0}],"numa":[{"id":0,"memory":8589934592}],
				"devices":[{"resource":"v.com/d","id":"a"},{"resource":"v.com/d","id":"b"}]},
			"events":[
				{"op":"add","pod":{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","resources":{"limits":{"v.com/d":"2"}}}]}}},
				{"op":"restart","kubelet":` + kubelet + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		r := Run(scenarios[0], Options{})
		if len(r.Events) != 2 || r.Events[1].StartError == nil {
			t.Errorf("%s: events %+v, want a restart that fails", kubelet, r.Events)
		}
		if !slices.Contains(r.Arbitrary, "files") {
			t.Errorf("%s: arbitrary %v, want files: the last file has two devices", kubelet, r.Arbitrary)
		}
	}
}
