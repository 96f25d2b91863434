package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
)

// CheckMachine finds a machine on which the memory manager could only compute
// nonsense.
func CheckMachine(memoryPolicy string, m *machine.Machine) error {
	if memoryPolicy != kubelet.MemoryPolicyStatic || slices.ContainsFunc(m.NUMA, func(n machine.Node) bool { return n.Memory > 0 }) {
		return nil
	}
	return fmt.Errorf("no NUMA node of the machine has memory, which memoryManagerPolicy %s gives out: set numa[].memory", memoryPolicy)
}

// check finds what no kubelet could meet: a pod without a name or with the name
// or UID of another, and the end of a pod that never came.
func (s *Scenario) check() error {
	var errs []error
	var config struct{ MemoryManagerPolicy string }
	// A configuration that cannot be read is told when the kubelet starts.
	if json.Unmarshal(s.Kubelet, &config) == nil {
		errs = append(errs, CheckMachine(config.MemoryManagerPolicy, s.Machine.Machine))
	}
	names, uids := map[string]bool{}, map[string]int{}
	for i, e := range s.Events {
		switch e.Op {
		case OpAdd:
			uid := string(e.Pod.UID)
			if uid == "" {
				uid = e.PodName
			}
			before, double := uids[uid]
			switch {
			case e.PodName == "":
				errs = append(errs, fmt.Errorf("events[%d]: pod: metadata.name is missing", i))
			case names[e.PodName]:
				errs = append(errs, fmt.Errorf("events[%d]: pod %q was added before: names are unique within a scenario", i, e.PodName))
			case double:
				errs = append(errs, fmt.Errorf("events[%d]: pod %q has the UID of the pod of events[%d]", i, e.PodName, before))
			case len(e.Pod.Spec.Containers) == 0:
				errs = append(errs, fmt.Errorf("events[%d]: pod %q has no containers", i, e.PodName))
			}
			names[e.PodName], uids[uid] = true, i
		case OpRemove:
			if !names[e.PodName] {
				errs = append(errs, fmt.Errorf("events[%d]: pod %q was never added", i, e.PodName))
			}
		}
	}
	return errors.Join(errs...)
}
