package simulate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate/cpumanager"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// CheckPolicies is what the topology and the CPU manager refuse in their
// policies and options: with a machine all for which they could not be made on
// it, without one, where m is nil, what they refuse on any. Of what one of them
// refuses the first is told, as by the kubelet; allocatable.CheckOn tells the
// same where it needs no manager.
func CheckPolicies(c *kubelet.Config, m *machine.Machine) []kubelet.Finding {
	var findings []kubelet.Finding
	told := func(field string, err error) {
		if err != nil {
			findings = append(findings, kubelet.Finding{Stage: kubelet.StageStart, Field: field, Message: err.Error()})
		}
	}
	// Validation tells an unknown policy or scope.
	if slices.Contains([]string{kubelet.TopologyPolicyBestEffort, kubelet.TopologyPolicyRestricted, kubelet.TopologyPolicySingleNUMANode}, c.TopologyManagerPolicy) &&
		slices.Contains([]string{kubelet.TopologyScopeContainer, kubelet.TopologyScopePod}, c.TopologyManagerScope) {
		_, err := newTopologyManager(c, m)
		told("topologyManagerPolicyOptions", err)
	}
	switch {
	case c.CPUManagerPolicy != kubelet.CPUPolicyStatic:
	case m == nil || len(m.CPUs) == 0:
		_, err := cpumanager.ParseOptions(c.CPUManagerPolicyOptions, c.Gates)
		told("cpuManagerPolicyOptions", err)
	default:
		r, _ := allocatable.ReadReservations(c)
		_, err := NewCPUManager(c, m, r)
		told("cpuManagerPolicy", err)
	}
	return findings
}

// newTopologyManager makes the one that the configuration asks for, without
// providers; the machine may be nil.
func newTopologyManager(c *kubelet.Config, m *machine.Machine) (*topologymanager.Manager, error) {
	t := topologymanager.Config{Policy: c.TopologyManagerPolicy, Scope: c.TopologyManagerScope, Options: c.TopologyManagerPolicyOptions, Gates: c.Gates}
	if m != nil {
		t.Nodes = m.NUMA
	}
	return topologymanager.New(t)
}

// NewCPUManager makes the CPU manager that the configuration asks for, or fails
// in the kubelet's words. It has not read its state.
// kubelet v1.37: cm/container_manager_linux.go NewContainerManager
func NewCPUManager(c *kubelet.Config, m *machine.Machine, r allocatable.Reservations) (*cpumanager.Manager, error) {
	config := cpumanager.Config{
		Policy: c.CPUManagerPolicy, Options: c.CPUManagerPolicyOptions, Reserved: r.CPUs,
		TopologyPolicy: c.TopologyManagerPolicy, Gates: c.Gates,
	}
	if sum := r.Of(corev1.ResourceCPU); !sum.IsZero() {
		config.Reservation = &sum
	}
	return cpumanager.New(m, config)
}
