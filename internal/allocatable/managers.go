package allocatable

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
)

// CheckCPUPolicy is what the CPU manager says to its policy before it looks at
// the machine. The reservation is of systemReserved and kubeReserved, nil when
// nothing is reserved.
//
// kubelet v1.37: cm/cpumanager/cpu_manager.go NewManager.
func CheckCPUPolicy(policy string, options map[string]string, reservation *resource.Quantity) error {
	switch {
	case policy == kubelet.CPUPolicyNone && len(options) > 0:
		return fmt.Errorf("new none policy error: None policy: received unsupported options=%v", options)
	case policy == kubelet.CPUPolicyNone:
		return nil
	case policy != kubelet.CPUPolicyStatic:
		return fmt.Errorf("unknown policy: %q", policy)
	case reservation == nil:
		return errors.New("[cpumanager] unable to determine reserved CPU resources for static policy")
	case reservation.IsZero():
		return errors.New("[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero")
	}
	return nil
}

// CheckMemoryPolicy is what the memory manager says to its policy's name.
//
// kubelet v1.37: cm/memorymanager/memory_manager.go NewManager.
func CheckMemoryPolicy(policy string) error {
	switch policy {
	case kubelet.MemoryPolicyNone, kubelet.MemoryPolicyStatic:
		return nil
	case kubelet.MemoryPolicyBestEffort:
		return fmt.Errorf("policy %q is not available for platform %q", policy, "linux")
	}
	return fmt.Errorf("unknown policy: %q", policy)
}

// CheckReservedMemory holds reservedMemory, which the static policy needs,
// against all that is kept of memory and huge pages: for each both must be
// equal. The ids are those of the machine's NUMA nodes, empty when unknown. The
// kubelet tells the first of the errors.
//
// kubelet v1.37: cm/memorymanager/memory_manager.go validateReservedMemory,
// cm/memorymanager/policy_static.go NewPolicyStatic.
func CheckReservedMemory(reserved []kubeletv1beta1.MemoryReservation, kept corev1.ResourceList, numaNodes []int) []error {
	var errs []error
	sums := corev1.ResourceList{}
	for name := range kept {
		if name == corev1.ResourceMemory || quantity.IsHugePages(name) {
			sums[name] = *resource.NewQuantity(0, resource.DecimalSI)
		}
	}
	for _, r := range reserved {
		if len(numaNodes) > 0 && !slices.Contains(numaNodes, int(r.NumaNode)) {
			errs = append(errs, fmt.Errorf("the reserved memory configuration references a NUMA node %d that does not exist on this machine", r.NumaNode))
		}
		for name, q := range r.Limits {
			q = q.DeepCopy()
			q.Add(sums[name])
			sums[name] = q
		}
	}
	for _, name := range sortedNames(sums) {
		have, want := *resource.NewQuantity(0, resource.DecimalSI), *resource.NewQuantity(0, resource.DecimalSI)
		have.Add(sums[name])
		want.Add(kept[name])
		if !have.Equal(want) {
			errs = append(errs, fmt.Errorf("the total amount %q of type %q is not equal to the value %q determined by Node Allocatable feature", &have, name, &want))
		}
	}
	if memory := sums[corev1.ResourceMemory]; memory.IsZero() {
		errs = append(errs, errors.New("[memorymanager] you should specify the system reserved memory"))
	}
	return errs
}

// checkPolicies finds policies of the managers that do not exist or cannot work
// on any machine.
func checkPolicies(c *kubelet.Config, r Reservations) []kubelet.Finding {
	var findings []kubelet.Finding
	var reservation *resource.Quantity
	if q := r.Of(corev1.ResourceCPU); !q.IsZero() {
		reservation = &q
	}
	if err := CheckCPUPolicy(c.CPUManagerPolicy, c.CPUManagerPolicyOptions, reservation); err != nil {
		findings = append(findings, startFinding("cpuManagerPolicy", err))
	}
	if err := CheckMemoryPolicy(c.MemoryManagerPolicy); err != nil {
		findings = append(findings, startFinding("memoryManagerPolicy", err))
	}
	return findings
}

// checkReservedMemory judges reservedMemory on a node whose memory is known.
func checkReservedMemory(c *kubelet.Config, n Node, r *Result) []kubelet.Finding {
	if _, known := r.Capacity[corev1.ResourceMemory]; c.MemoryManagerPolicy != kubelet.MemoryPolicyStatic || !known {
		return nil
	}
	kept := corev1.ResourceList{}
	for name := range r.Capacity {
		kept[name] = r.Reservation(name)
	}
	var findings []kubelet.Finding
	for _, err := range CheckReservedMemory(c.ReservedMemory, kept, n.NUMANodes) {
		findings = append(findings, startFinding("reservedMemory", err))
	}
	return findings
}
