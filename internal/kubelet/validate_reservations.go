package kubelet

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"

	"github.com/kqos/kqos/internal/quantity"
)

// The words of enforceNodeAllocatable. EnforcePods is the default.
//
// kubelet v1.37: pkg/kubelet/types/constants.go.
const (
	EnforcePods                       = "pods"
	EnforceSystemReserved             = "system-reserved"
	EnforceSystemReservedCompressible = "system-reserved-compressible"
	EnforceKubeReserved               = "kube-reserved"
	EnforceKubeReservedCompressible   = "kube-reserved-compressible"
	EnforceNone                       = "none"
)

func (v *validator) enforcement() {
	const field = "enforceNodeAllocatable"
	words := v.EnforceNodeAllocatable
	for _, pair := range [][2]string{{EnforceSystemReserved, EnforceSystemReservedCompressible}, {EnforceKubeReserved, EnforceKubeReservedCompressible}} {
		if slices.Contains(words, pair[0]) && slices.Contains(words, pair[1]) {
			v.invalid(field, "both %q and %q cannot be specified together in enforceNodeAllocatable (--enforce-node-allocatable)", pair[0], pair[1])
		}
	}
	for i, word := range words {
		if slices.Contains(words[:i], word) {
			v.invalid(field, "duplicated enforcements %q in enforceNodeAllocatable (--enforce-node-allocatable)", word)
			continue
		}
		if v.enforcementWord(word) && !*v.CgroupsPerQOS {
			v.invalid(field, "cgroupsPerQOS (--cgroups-per-qos) must be set to true when %q contained in enforceNodeAllocatable (--enforce-node-allocatable)", word)
		}
	}
}

// enforcementWord judges one word, and says whether it enforces something.
func (v *validator) enforcementWord(word string) bool {
	const field = "enforceNodeAllocatable"
	switch word {
	case EnforcePods:
	case EnforceSystemReserved, EnforceSystemReservedCompressible:
		if v.SystemReservedCgroup == "" {
			v.invalid("systemReservedCgroup", "systemReservedCgroup (--system-reserved-cgroup) must be specified when %q or %q included in enforceNodeAllocatable (--enforce-node-allocatable)",
				EnforceSystemReserved, EnforceSystemReservedCompressible)
		}
	case EnforceKubeReserved, EnforceKubeReservedCompressible:
		if v.KubeReservedCgroup == "" {
			v.invalid("kubeReservedCgroup", "kubeReservedCgroup (--kube-reserved-cgroup) must be specified when %q or %q included in enforceNodeAllocatable (--enforce-node-allocatable)",
				EnforceKubeReserved, EnforceKubeReservedCompressible)
		}
	case EnforceNone:
		if len(v.EnforceNodeAllocatable) > 1 {
			v.invalid(field, "enforceNodeAllocatable (--enforce-node-allocatable) may not contain additional enforcements when %q is specified", EnforceNone)
		}
		return false
	default:
		v.invalid(field, "option %q specified for enforceNodeAllocatable (--enforce-node-allocatable). Valid options are %q, %q, %q, %q, %q or %q", word,
			EnforcePods, EnforceSystemReserved, EnforceSystemReservedCompressible, EnforceKubeReserved, EnforceKubeReservedCompressible, EnforceNone)
		return false
	}
	return true
}

func (v *validator) reservedCPUs() {
	const field = "reservedSystemCPUs"
	if v.ReservedSystemCPUs == "" {
		return
	}
	if v.SystemReservedCgroup != "" || v.KubeReservedCgroup != "" {
		v.invalid(field, "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)")
	}
	if _, err := ParseCPUs(v.ReservedSystemCPUs); err != nil {
		v.invalid(field, "unable to parse reservedSystemCPUs (--reserved-cpus) %v, error: %v", v.ReservedSystemCPUs, err)
	}
}

// kubelet v1.37: pkg/kubelet/apis/config/validation/validation_reserved_memory.go.
func (v *validator) reservedMemory() {
	seen := map[int32]map[corev1.ResourceName]bool{}
	for i, r := range v.ReservedMemory {
		if seen[r.NumaNode] == nil {
			seen[r.NumaNode] = map[corev1.ResourceName]bool{}
		}
		field := fmt.Sprintf("reservedMemory[%d].limits", i)
		for _, name := range slices.Sorted(maps.Keys(r.Limits)) {
			if name != corev1.ResourceMemory && !quantity.IsHugePages(name) {
				v.invalid(field, "the limit type %q for NUMA node %d is not supported, only %v is accepted", name, r.NumaNode,
					[]corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceHugePagesPrefix + "<HugePageSize>"})
			}
			if q := r.Limits[name]; q.IsZero() {
				v.invalid(field, "reserved memory may not be zero for NUMA node %d and resource %q", r.NumaNode, name)
			}
			if seen[r.NumaNode][name] {
				v.invalid(field, "the reserved memory has a duplicate value for NUMA node %d and resource %q", r.NumaNode, name)
			}
			seen[r.NumaNode][name] = true
		}
	}
}

func (v *validator) swap() {
	if b := v.MemorySwap.SwapBehavior; b != "" && b != "LimitedSwap" && b != "NoSwap" {
		v.invalid("memorySwap.swapBehavior", "memorySwap.swapBehavior %q must be one of: \"\", %q or %q", b, "LimitedSwap", "NoSwap")
	}
}

// oldThrottlingFactor was the default before 1.37; files that still write it
// out stay valid.
const oldThrottlingFactor = 0.9

func (v *validator) memoryQoS() {
	on, factor, policy := v.Gates.Enabled(GateMemoryQoS), v.MemoryThrottlingFactor, v.MemoryReservationPolicy
	if !on && factor != nil && *factor != oldThrottlingFactor && v.Gates.Since(37) {
		v.invalid("memoryThrottlingFactor", "memoryThrottlingFactor must not be set when MemoryQoS feature gate is disabled")
	}
	if factor != nil && (*factor <= 0 || *factor > 1) {
		v.invalid("memoryThrottlingFactor", "memoryThrottlingFactor %v must be greater than 0 and less than or equal to 1.0", *factor)
	}
	tiered := kubeletv1beta1.TieredReservationMemoryReservationPolicy
	if !on && policy == tiered {
		v.invalid("memoryReservationPolicy", "memoryReservationPolicy %q requires MemoryQoS feature gate to be enabled", policy)
	}
	if none := kubeletv1beta1.NoneMemoryReservationPolicy; v.Gates.Since(36) && policy != none && policy != tiered {
		v.invalid("memoryReservationPolicy", "option %q specified for memoryReservationPolicy. Valid options are %q or %q", policy, none, tiered)
	}
}
