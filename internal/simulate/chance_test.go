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
