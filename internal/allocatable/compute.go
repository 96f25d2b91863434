package allocatable

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
)

// Result is what is left to pods, and why.
type Result struct {
	// Capacity and Allocatable are those of the node's status, and pid besides,
	// which the status leaves out. What is unknown is absent.
	Capacity, Allocatable corev1.ResourceList
	// Absolute is capacity minus reservations, without eviction thresholds: what
	// is enforced on kubepods, and the base of qosReserved and memory.high.
	Absolute corev1.ResourceList
	// Reservations are what the kubelet parsed.
	Reservations Reservations
	// Thresholds are the hard eviction thresholds, and Eviction what they keep
	// of each resource.
	Thresholds []Threshold
	Eviction   corev1.ResourceList
	// QOSReserved is in percent.
	QOSReserved map[corev1.ResourceName]int64
	// Terms lead from each capacity to its allocatable; their sum is exact.
	Terms []Term
	// Enforced are the limits that the kubelet sets at its start.
	Enforced []Enforced
	// Warnings are consequences that surprise.
	Warnings []string
}

// Compute tells what a kubelet with this configuration leaves to pods on the
// node. The findings are those for which it would not start there; what can be
// computed is computed all the same.
//
// kubelet v1.37: pkg/kubelet/nodestatus/setters.go MachineInfo,
// cm/node_container_manager_linux.go.
func Compute(c *kubelet.Config, n Node) (*Result, []kubelet.Finding) {
	r := &Result{Capacity: statusCapacity(c, n)}
	var findings, more []kubelet.Finding
	r.Reservations, findings = ReadReservations(c)
	r.Thresholds, more = ReadThresholds(c)
	findings = append(findings, more...)
	r.QOSReserved, more = ReadQOSReserved(c)
	findings = append(findings, more...)
	r.Eviction = evictionReservation(r.Thresholds, r.Capacity)
	r.Absolute = r.Reservations.absolute(r.Capacity)
	r.Allocatable, r.Terms = status(c, n, r)
	r.Enforced = enforced(c, n, r)
	r.Warnings = warnings(c, r)
	return r, append(findings, checkMachine(c, n, r)...)
}

// absolute is the capacity without what is reserved, each at least 0.
//
// kubelet v1.37: cm/node_container_manager_linux.go getNodeAllocatableAbsoluteImpl.
func (r Reservations) absolute(capacity corev1.ResourceList) corev1.ResourceList {
	left := corev1.ResourceList{}
	for name, q := range capacity {
		if name == corev1.ResourcePods {
			continue
		}
		q = q.DeepCopy()
		q.Sub(r.System[name])
		q.Sub(r.Kube[name])
		left[name] = notNegative(q)
	}
	return left
}

// evictionReservation is what hard thresholds keep of resources whose capacity
// is known.
func evictionReservation(thresholds []Threshold, capacity corev1.ResourceList) corev1.ResourceList {
	kept := corev1.ResourceList{}
	for _, t := range thresholds {
		if total, known := capacity[t.Resource()]; known {
			kept[t.Resource()] = t.Amount(total)
		}
	}
	return kept
}

// Reservation is all that is kept of each resource of the status.
//
// kubelet v1.37: cm/node_container_manager_linux.go GetNodeAllocatableReservation.
func (r *Result) Reservation(name corev1.ResourceName) resource.Quantity {
	sum := r.Reservations.Of(name)
	sum.Add(r.Eviction[name])
	return sum
}

func notNegative(q resource.Quantity) resource.Quantity {
	if q.Sign() < 0 {
		q.Set(0)
	}
	return q
}
