package kubelet

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/cpuset"
)

func TestInvalidStates(t *testing.T) {
	const static = "cpuManagerPolicy: static\n"
	const strict = static + "cpuManagerPolicyOptions: {strict-cpu-reservation: \"true\"}\n"
	const memory = "memoryManagerPolicy: Static\nreservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]\n"
	for _, tt := range []struct {
		name, from, to         string
		reservedFrom, reserved cpuset.CPUSet
		want                   []InvalidState
	}{
		{name: "nothing changed", from: static + memory, to: static + memory},
		{name: "no policy, other reservation", reserved: cpuset.New(0)},
		{name: "policies", to: static + memory, want: []InvalidState{
			{File: "cpu_manager_state", Why: `configured policy "static" differs from state checkpoint policy "none"`},
			{File: "memory_manager_state", Why: `configured policy "Static" differs from state checkpoint policy "None"`},
		}},
		{name: "more reserved", from: static, to: static, reservedFrom: cpuset.New(0), reserved: cpuset.New(0, 1), want: []InvalidState{
			{File: "cpu_manager_state", Why: `not all reserved cpus: "0-1" are present in defaultCpuSet`, OnlyIf: "a container has one of 1 exclusively"},
		}},
		{name: "fewer reserved", from: static, to: static, reservedFrom: cpuset.New(0, 1), reserved: cpuset.New(0)},
		{name: "more reserved strictly", from: strict, to: strict, reservedFrom: cpuset.New(0), reserved: cpuset.New(0, 1), want: []InvalidState{
			{File: "cpu_manager_state", Why: `some of strictly reserved cpus: "0-1" are present in defaultCpuSet`},
		}},
		{name: "fewer reserved strictly", from: strict, to: strict, reservedFrom: cpuset.New(0, 1), reserved: cpuset.New(0), want: []InvalidState{
			{File: "cpu_manager_state", Why: "current set of available CPUs doesn't match with CPUs in state: 1 is no longer reserved"},
		}},
		{name: "strict on", from: static, to: strict, reservedFrom: cpuset.New(0), reserved: cpuset.New(0), want: []InvalidState{
			{File: "cpu_manager_state", Why: `some of strictly reserved cpus: "0" are present in defaultCpuSet`},
		}},
		{name: "strict off", from: strict, to: static, reservedFrom: cpuset.New(0), reserved: cpuset.New(0), want: []InvalidState{
			{File: "cpu_manager_state", Why: `not all reserved cpus: "0" are present in defaultCpuSet`},
		}},
		{name: "reserved memory", from: memory, to: "memoryManagerPolicy: Static\nreservedMemory: [{numaNode: 1, limits: {memory: 1Gi}}]\n", want: []InvalidState{
			{File: "memory_manager_state", Why: "[memorymanager] the expected machine state is different from the real one"},
		}},
		{name: "the same memory otherwise written", from: memory, to: "memoryManagerPolicy: Static\nreservedMemory: [{numaNode: 0, limits: {memory: 1024Mi}}]\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			config := func(yaml string) *Config {
				c, err := Load(LoadOptions{File: "config", Data: []byte(head + yaml)})
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			got := InvalidStates(config(tt.from), config(tt.to), tt.reservedFrom, tt.reserved)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
