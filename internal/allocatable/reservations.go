// Package allocatable computes what a kubelet leaves to pods: capacity minus
// reservations and hard eviction thresholds, as the node's status reports it and
// as the kubelet enforces it on cgroups. It is pure.
//
//	node := allocatable.Node{Capacity: allocatable.Capacity(m, nil)}
//	result, findings := allocatable.Compute(config, node)
//	fmt.Println(result.Allocatable.Memory(), len(findings))
package allocatable

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
)

// Capacities that are no resources of the API: process ids, which can be
// reserved, and swap in bytes.
const (
	ResourcePID  corev1.ResourceName = "pid"
	ResourceSwap corev1.ResourceName = "swap"
)

// Reservations are the amounts that a configuration keeps from pods, without
// eviction thresholds.
type Reservations struct {
	// System and Kube are nil when nothing is reserved: enforcing such a
	// reservation fails, other than enforcing one of zero.
	System, Kube corev1.ResourceList
	// CPUs is reservedSystemCPUs; empty when not set. Its size then stands in
	// System, and the CPU amounts of the configuration are void.
	CPUs cpuset.CPUSet
}

// Of is the sum of both reservations of a resource.
func (r Reservations) Of(name corev1.ResourceName) resource.Quantity {
	sum := *resource.NewQuantity(0, resource.DecimalSI)
	sum.Add(r.System[name])
	sum.Add(r.Kube[name])
	return sum
}

// ReadReservations parses kubeReserved, systemReserved and reservedSystemCPUs.
// What does not parse is left out and told, where the kubelet stops at the
// first.
//
// kubelet v1.37: cmd/kubelet/app/server.go run, getReservedCPUs.
func ReadReservations(c *kubelet.Config) (Reservations, []kubelet.Finding) {
	var r Reservations
	kube, system := c.KubeReserved, c.SystemReserved
	// A list that does not parse is a finding of validation.
	if cpus, err := kubelet.ParseCPUs(c.ReservedSystemCPUs); err == nil && !cpus.IsEmpty() {
		r.CPUs = cpus
		kube, system = maps.Clone(kube), maps.Clone(system)
		delete(kube, string(corev1.ResourceCPU))
		if system == nil {
			system = map[string]string{}
		}
		system[string(corev1.ResourceCPU)] = strconv.Itoa(cpus.Size())
	}
	var findings []kubelet.Finding
	read := func(field, flag string, amounts map[string]string) corev1.ResourceList {
		if len(amounts) == 0 {
			return nil
		}
		list := corev1.ResourceList{}
		for _, name := range slices.Sorted(maps.Keys(amounts)) {
			q, err := parseReservation(corev1.ResourceName(name), amounts[name])
			if err != nil {
				findings = append(findings, startFinding(field+"."+name, fmt.Errorf("--%s value failed to parse: %w", flag, err)))
				continue
			}
			list[corev1.ResourceName(name)] = q
		}
		return list
	}
	r.Kube = read("kubeReserved", "kube-reserved", kube)
	r.System = read("systemReserved", "system-reserved", system)
	return r, findings
}

// parseReservation reads one amount. CPU is rounded to the nearest thousandth,
// half up, and wraps around above math.MaxInt64 millionths as the kubelet's does.
//
// kubelet v1.37: cmd/kubelet/app/server.go parseResourceList.
func parseReservation(name corev1.ResourceName, text string) (resource.Quantity, error) {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, ResourcePID:
	default:
		return resource.Quantity{}, fmt.Errorf("cannot reserve %q resource", name)
	}
	q, err := quantity.Parse(text)
	switch {
	case err != nil:
		return q, fmt.Errorf("failed to parse quantity %q for %q resource: %w", text, name, err)
	case q.Sign() < 0:
		return q, fmt.Errorf("resource quantity for %q cannot be negative: %s", name, text)
	case name == corev1.ResourceCPU:
		q.SetMilli((q.ScaledValue(resource.Micro) + 500) / 1000)
	}
	return q, nil
}

func startFinding(field string, err error) kubelet.Finding {
	return kubelet.Finding{Stage: kubelet.StageStart, Field: field, Message: err.Error()}
}
