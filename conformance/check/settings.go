package check

import (
	"github.com/kqos/kqos/conformance/oracle/pod"
	"github.com/kqos/kqos/internal/cgroups"
)

// Resources are what kqos sets, in the form of the kubelet's.
func Resources(s cgroups.Settings) pod.Resources {
	r := pod.Resources{
		Memory: is(s.Memory), CPUShares: is(s.CPUShares), CPUQuota: is(s.CPUQuota), CPUPeriod: is(s.CPUPeriod), PidsLimit: is(s.PidsLimit),
		HugePageLimit: map[int64]int64{}, Unified: map[string]string{},
	}
	if s.CPUs != nil {
		r.CPUSet = s.CPUs.Is.String()
	}
	for size, v := range s.HugePages {
		r.HugePageLimit[size] = v.Is
	}
	for file, v := range s.Unified {
		r.Unified[file] = v.Is
	}
	return r
}

func is[T any](v *cgroups.Value[T]) *T {
	if v == nil {
		return nil
	}
	return &v.Is
}
