package allocatable

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
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

// SwapRefused is what the kubelet says where swap is on and not tolerated.
const SwapRefused = "running with swap on is not supported, please disable swap or set --fail-swap-on flag to false"

// checkSwapOn finds swap on a node whose kubelet does not tolerate it.
//
// kubelet v1.37: cm/container_manager_linux.go NewContainerManager.
func checkSwapOn(c *kubelet.Config, n Node) []kubelet.Finding {
	if swap := n.Capacity[ResourceSwap]; swap.IsZero() || c.FailSwapOn != nil && !*c.FailSwapOn {
		return nil
	}
	return []kubelet.Finding{startFinding("failSwapOn", errors.New(SwapRefused))}
}

// kubelet v1.37: cmd/kubelet/app/server.go run.
func checkSwap(c *kubelet.Config, cgroupVersion int) []kubelet.Finding {
	if cgroupVersion != 1 || c.MemorySwap.SwapBehavior != "LimitedSwap" {
		return nil
	}
	return []kubelet.Finding{startFinding("memorySwap.swapBehavior", errors.New("swap feature is enabled and LimitedSwap but it is only supported with cgroupv2"))}
}

// checkMachine finds what does not fit the machine, as far as it is known.
func checkMachine(c *kubelet.Config, n Node, r *Result) []kubelet.Finding {
	return slices.Concat(CheckReservedCPUs(c, n), checkReservedMemory(c, n, r), checkCapacity(r))
}

// CheckReservedCPUs finds reserved CPUs that are not online.
//
// kubelet v1.37: cmd/kubelet/app/server.go getReservedCPUs.
func CheckReservedCPUs(c *kubelet.Config, n Node) []kubelet.Finding {
	cpus, err := kubelet.ParseCPUs(c.ReservedSystemCPUs)
	if err != nil || n.CPUs.IsEmpty() || cpus.IsSubsetOf(n.CPUs) {
		return nil
	}
	return []kubelet.Finding{startFinding("reservedSystemCPUs",
		fmt.Errorf("reserved-cpus: %s is not a subset of online-cpus: %s", c.ReservedSystemCPUs, n.CPUs))}
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
			parts = append(parts, fmt.Sprintf("Resource %q has a reservation of %v but capacity of %v. Expected capacity >= reservation.", name, goText(kept), goText(total)))
			fields = append(fields, string(name))
		}
	}
	if parts == nil {
		return nil
	}
	return []kubelet.Finding{startFinding(strings.Join(fields, ","), fmt.Errorf("invalid Node Allocatable configuration. %s", strings.Join(parts, " ")))}
}

// goText is a quantity as the kubelet's error shows it: as a Go value, unless
// that has the address of a number beyond int64.
func goText(q resource.Quantity) string {
	if text := fmt.Sprintf("%v", q); !strings.Contains(text, "0x") {
		return text
	}
	return q.String()
}
