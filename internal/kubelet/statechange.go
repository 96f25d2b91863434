package kubelet

import (
	"fmt"
	"reflect"
	"strconv"

	"k8s.io/utils/cpuset"
)

// InvalidState is a checkpoint file that a kubelet with a changed configuration
// would refuse, so that it does not start until the node is drained and the
// file deleted.
type InvalidState struct {
	// File is the name below the kubelet's folder.
	File string `json:"file"`
	// Why is what the kubelet finds wrong.
	Why string `json:"why"`
	// OnlyIf is a condition on the content of the file; empty when there is none.
	OnlyIf string `json:"onlyIf,omitempty"`
}

// InvalidStates tells which checkpoint files of a kubelet with one
// configuration another refuses. The sets are the CPUs that each reserves on
// the node, empty when unknown.
//
// kubelet v1.37: cm/cpumanager/policy_static.go validateState,
// cm/memorymanager/policy_static.go validateState.
func InvalidStates(from, to *Config, reservedFrom, reservedTo cpuset.CPUSet) []InvalidState {
	var states []InvalidState
	if s := invalidCPUState(from, to, reservedFrom, reservedTo); s != nil {
		s.File = CPUManagerStateFile
		states = append(states, *s)
	}
	if s := invalidMemoryState(from, to); s != nil {
		s.File = MemoryManagerStateFile
		states = append(states, *s)
	}
	return states
}

func policyDiffers(now, written string) string {
	return fmt.Sprintf("configured policy %q differs from state checkpoint policy %q", now, written)
}

func invalidCPUState(from, to *Config, reservedFrom, reservedTo cpuset.CPUSet) *InvalidState {
	strictFrom, strictTo := strictReservation(from), strictReservation(to)
	gained := reservedTo.Difference(reservedFrom)
	switch {
	case from.CPUManagerPolicy != to.CPUManagerPolicy:
		return &InvalidState{Why: policyDiffers(to.CPUManagerPolicy, from.CPUManagerPolicy)}
	case to.CPUManagerPolicy != CPUPolicyStatic:
		return nil
	case strictTo && !strictFrom:
		return &InvalidState{Why: fmt.Sprintf("some of strictly reserved cpus: %q are present in defaultCpuSet", reservedTo)}
	case strictFrom && !strictTo:
		return &InvalidState{Why: fmt.Sprintf("not all reserved cpus: %q are present in defaultCpuSet", reservedTo)}
	case reservedFrom.Equals(reservedTo):
		return nil
	case strictTo && !gained.IsEmpty():
		return &InvalidState{Why: fmt.Sprintf("some of strictly reserved cpus: %q are present in defaultCpuSet", reservedTo)}
	case strictTo:
		return &InvalidState{Why: fmt.Sprintf("current set of available CPUs doesn't match with CPUs in state: %s is no longer reserved", reservedFrom.Difference(reservedTo))}
	case !gained.IsEmpty():
		return &InvalidState{
			Why:    fmt.Sprintf("not all reserved cpus: %q are present in defaultCpuSet", reservedTo),
			OnlyIf: fmt.Sprintf("a container has one of %s exclusively", gained),
		}
	}
	return nil
}

// strictReservation reads the option that takes reserved CPUs out of the shared
// pool. A bad value is a finding of its own.
func strictReservation(c *Config) bool {
	on, _ := strconv.ParseBool(c.CPUManagerPolicyOptions[OptionStrictReservation])
	return on
}

// OtherMachine is what the kubelet says to a memory manager's state that was
// written on a machine with other memory, or under another reservedMemory.
//
// kubelet v1.37: cm/memorymanager/policy_static.go validateState.
const OtherMachine = "[memorymanager] the expected machine state is different from the real one"

func invalidMemoryState(from, to *Config) *InvalidState {
	switch {
	case from.MemoryManagerPolicy != to.MemoryManagerPolicy:
		return &InvalidState{Why: policyDiffers(to.MemoryManagerPolicy, from.MemoryManagerPolicy)}
	case to.MemoryManagerPolicy == MemoryPolicyStatic && !reflect.DeepEqual(reservedByNode(from), reservedByNode(to)):
		return &InvalidState{Why: OtherMachine}
	}
	return nil
}

// reservedByNode sums reservedMemory in bytes, as the machine state holds it.
func reservedByNode(c *Config) map[string]int64 {
	sums := map[string]int64{}
	for _, r := range c.ReservedMemory {
		for name, q := range r.Limits {
			sums[fmt.Sprintf("%d %s", r.NumaNode, name)] += q.Value()
		}
	}
	return sums
}
