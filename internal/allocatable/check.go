package allocatable

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/kubelet"
)

// The policies of the CPU manager and the memory manager.
const (
	cpuPolicyNone    = "none"
	cpuPolicyStatic  = "static"
	memoryNone       = "None"
	memoryStatic     = "Static"
	memoryBestEffort = "BestEffort"
)

// Check lists everything for which the kubelet would not start with a loaded
// configuration, whatever the machine: validation, and the parsing of the start.
func Check(c *kubelet.Config, cgroupVersion int) []kubelet.Finding {
	findings := c.Validate(cgroupVersion)
	r, more := ReadReservations(c)
	findings = append(findings, more...)
	_, more = ReadThresholds(c)
	findings = append(findings, more...)
	_, more = ReadQOSReserved(c)
	findings = append(findings, more...)
	findings = append(findings, checkSwap(c, cgroupVersion)...)
	findings = append(findings, checkPolicies(c, r)...)
	return append(findings, checkEviction(c)...)
}

// CheckOn is Check with what depends on the machine besides.
func CheckOn(c *kubelet.Config, n Node) []kubelet.Finding {
	r := &Result{Capacity: statusCapacity(c, n)}
	r.Reservations, _ = ReadReservations(c)
	r.Thresholds, _ = ReadThresholds(c)
	r.Eviction = evictionReservation(r.Thresholds, r.Capacity)
	return slices.Concat(Check(c, n.CgroupVersion), checkMachine(c, n, r), checkSwapOn(c, n))
}

// checkSwapOn finds swap on a node whose kubelet does not tolerate it.
//
// kubelet v1.37: cm/container_manager_linux.go NewContainerManager.
func checkSwapOn(c *kubelet.Config, n Node) []kubelet.Finding {
	if swap := n.Capacity[ResourceSwap]; swap.IsZero() || c.FailSwapOn != nil && !*c.FailSwapOn {
		return nil
	}
	return []kubelet.Finding{startFinding("failSwapOn",
		errors.New("running with swap on is not supported, please disable swap or set --fail-swap-on flag to false"))}
}

// kubelet v1.37: cmd/kubelet/app/server.go run.
func checkSwap(c *kubelet.Config, cgroupVersion int) []kubelet.Finding {
	if cgroupVersion != 1 || c.MemorySwap.SwapBehavior != "LimitedSwap" {
		return nil
	}
	return []kubelet.Finding{startFinding("memorySwap.swapBehavior", errors.New("swap feature is enabled and LimitedSwap but it is only supported with cgroupv2"))}
}

// checkPolicies finds policies of the managers that do not exist or cannot work.
//
// kubelet v1.37: cm/cpumanager/cpu_manager.go and cm/memorymanager/memory_manager.go NewManager.
func checkPolicies(c *kubelet.Config, r Reservations) []kubelet.Finding {
	var findings []kubelet.Finding
	switch c.CPUManagerPolicy {
	case cpuPolicyNone:
		if len(c.CPUManagerPolicyOptions) > 0 {
			findings = append(findings, startFinding("cpuManagerPolicyOptions",
				fmt.Errorf("new none policy error: None policy: received unsupported options=%v", c.CPUManagerPolicyOptions)))
		}
	case cpuPolicyStatic:
		if reserved := r.Of(corev1.ResourceCPU); reserved.IsZero() {
			findings = append(findings, startFinding("cpuManagerPolicy", errors.New("[cpumanager] unable to determine reserved CPU resources for static policy")))
		}
	default:
		findings = append(findings, startFinding("cpuManagerPolicy", fmt.Errorf("unknown policy: %q", c.CPUManagerPolicy)))
	}
	switch c.MemoryManagerPolicy {
	case memoryNone, memoryStatic:
	case memoryBestEffort:
		findings = append(findings, startFinding("memoryManagerPolicy", fmt.Errorf("policy %q is not available for platform %q", memoryBestEffort, "linux")))
	default:
		findings = append(findings, startFinding("memoryManagerPolicy", fmt.Errorf("unknown policy: %q", c.MemoryManagerPolicy)))
	}
	return findings
}

// reservesMemory says whether reservedMemory keeps any ordinary memory.
func reservesMemory(c *kubelet.Config) bool {
	return slices.ContainsFunc(c.ReservedMemory, func(r kubeletv1beta1.MemoryReservation) bool {
		q := r.Limits[corev1.ResourceMemory]
		return q.Sign() > 0
	})
}

// checkMachine finds what does not fit the machine, as far as it is known.
func checkMachine(c *kubelet.Config, n Node, r *Result) []kubelet.Finding {
	return slices.Concat(CheckReservedCPUs(c, n), checkReservedMemory(c, n, r), checkCapacity(r))
}

// CheckReservedCPUs finds reserved CPUs that are not online.
//
// kubelet v1.37: cmd/kubelet/app/server.go getReservedCPUs.
func CheckReservedCPUs(c *kubelet.Config, n Node) []kubelet.Finding {
	cpus, err := cpuset.Parse(c.ReservedSystemCPUs)
	if err != nil || n.CPUs.IsEmpty() || cpus.IsSubsetOf(n.CPUs) {
		return nil
	}
	return []kubelet.Finding{startFinding("reservedSystemCPUs",
		fmt.Errorf("reserved-cpus: %s is not a subset of online-cpus: %s", c.ReservedSystemCPUs, n.CPUs))}
}

// checkReservedMemory holds reservedMemory against all that is reserved of
// memory and huge pages: for the static policy both must be equal.
//
// kubelet v1.37: cm/memorymanager/memory_manager.go validateReservedMemory.
func checkReservedMemory(c *kubelet.Config, n Node, r *Result) []kubelet.Finding {
	if c.MemoryManagerPolicy != memoryStatic {
		return nil
	}
	var findings []kubelet.Finding
	if !reservesMemory(c) {
		findings = append(findings, startFinding("reservedMemory", errors.New("[memorymanager] you should specify the system reserved memory")))
	}
	total := corev1.ResourceList{}
	for i, reserved := range c.ReservedMemory {
		if len(n.NUMANodes) > 0 && !slices.Contains(n.NUMANodes, int(reserved.NumaNode)) {
			findings = append(findings, startFinding(fmt.Sprintf("reservedMemory[%d].numaNode", i),
				fmt.Errorf("the reserved memory configuration references a NUMA node %d that does not exist on this machine", reserved.NumaNode)))
		}
		for name, q := range reserved.Limits {
			q = q.DeepCopy()
			q.Add(total[name])
			total[name] = q
		}
	}
	for name := range r.Capacity {
		if _, ok := total[name]; !ok && (name == corev1.ResourceMemory || isHugePages(name)) {
			total[name] = *resource.NewQuantity(0, resource.DecimalSI)
		}
	}
	if _, known := r.Capacity[corev1.ResourceMemory]; !known {
		return findings
	}
	for _, name := range sortedNames(total) {
		sum, want := *resource.NewQuantity(0, resource.DecimalSI), r.Reservation(name)
		sum.Add(total[name])
		if !sum.Equal(want) {
			findings = append(findings, startFinding("reservedMemory",
				fmt.Errorf("the total amount %q of type %q is not equal to the value %q determined by Node Allocatable feature", sum.String(), name, want.String())))
		}
	}
	return findings
}

// checkCapacity finds reservations beyond the capacity. pid is not checked, nor
// by the kubelet, which prints the quantities as Go values.
//
// kubelet v1.37: cm/node_container_manager_linux.go validateNodeAllocatable.
func checkCapacity(r *Result) []kubelet.Finding {
	var parts, fields []string
	for _, name := range sortedNames(r.Capacity) {
		if name == ResourcePID || name == corev1.ResourcePods {
			continue
		}
		left, kept, total := r.Capacity[name].DeepCopy(), r.Reservation(name), r.Capacity[name]
		left.Sub(kept)
		if left.Sign() < 0 {
			parts = append(parts, fmt.Sprintf("Resource %q has a reservation of %v but capacity of %v. Expected capacity >= reservation.", name, kept, total))
			fields = append(fields, string(name))
		}
	}
	if parts == nil {
		return nil
	}
	return []kubelet.Finding{startFinding(strings.Join(fields, ","), fmt.Errorf("invalid Node Allocatable configuration. %s", strings.Join(parts, " ")))}
}
