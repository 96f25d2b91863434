package cpumanager

import (
	"errors"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// Config is what the CPU manager is started with.
type Config struct {
	// Policy is cpuManagerPolicy, Options cpuManagerPolicyOptions.
	Policy  string
	Options map[string]string
	// Reserved is reservedSystemCPUs; empty lets the policy choose.
	Reserved cpuset.CPUSet
	// Reservation is systemReserved.cpu + kubeReserved.cpu, or the number of
	// Reserved; nil when nothing is reserved.
	Reservation *resource.Quantity
	// TopologyPolicy is topologyManagerPolicy.
	TopologyPolicy string
	Gates          kubelet.Gates
}

// Manager is the CPU manager of one node.
type Manager struct {
	policy   string
	topology *Topology
	options  Options
	gates    kubelet.Gates
	// reserved CPUs are never exclusive; reservedCores are all CPUs of the cores
	// that hold one.
	reserved, reservedCores set
	state                   State
	// reuse is what the pod admitted last may take again from its ordinary init
	// containers.
	reuse reuse
}

var _ topologymanager.Provider = (*Manager)(nil)

// New makes a CPU manager, or fails as the kubelet's construction does, in its
// words. Start must be called before anything is allocated.
// kubelet v1.37: cm/cpumanager/cpu_manager.go NewManager
func New(node *machine.Machine, c Config) (*Manager, error) {
	topology, err := discover(node)
	if err != nil {
		return nil, err
	}
	m := &Manager{policy: c.Policy, topology: topology, gates: c.Gates}
	if err := allocatable.CheckCPUPolicy(c.Policy, c.Options, c.Reservation); err != nil {
		return nil, err
	}
	if c.Policy == kubelet.CPUPolicyStatic {
		if err := m.initStatic(c); err != nil {
			return nil, fmt.Errorf("new static policy error: %w", err)
		}
	}
	return m, nil
}

// initStatic parses the options and settles the reserved CPUs: those given, or
// as many as are reserved, chosen by the policy's own allocator.
// kubelet v1.37: cm/cpumanager/policy_static.go NewStaticPolicy
func (m *Manager) initStatic(c Config) error {
	var err error
	if m.options, err = ParseOptions(c.Options, c.Gates); err != nil {
		return err
	}
	if err := m.options.fits(m.topology, c.TopologyPolicy); err != nil {
		return err
	}
	const milliPerCPU = 1000
	// Floating point as in the kubelet: no reservation is too large to round up.
	n := int(math.Ceil(float64(c.Reservation.MilliValue()) / milliPerCPU))
	reserved := c.Reserved
	if reserved.IsEmpty() {
		chosen, err := m.choose(m.topology.setOf(m.topology.CPUs()), n)
		if _, crash := errors.AsType[*topologymanager.CrashError](err); crash {
			return err
		}
		if err == nil {
			reserved = m.topology.cpusetOf(chosen)
		}
	}
	if reserved.Size() != n {
		return fmt.Errorf("[cpumanager] unable to reserve the required amount of CPUs (size of %s did not equal %d)", reserved, n)
	}
	if unknown := reserved.Difference(m.topology.CPUs()); !unknown.IsEmpty() {
		return fmt.Errorf("[cpumanager] unable to build the reserved physical CPUs from the reserved set: unknown CPU ID: %d", unknown.List()[0])
	}
	m.reserved = m.topology.setOf(reserved)
	m.reservedCores = newSet(len(m.topology.ids))
	for cpu := range m.reserved.all() {
		core := m.topology.core.of[cpu]
		m.reservedCores = m.reservedCores.union(m.topology.core.members[core])
	}
	return nil
}

// Name is "cpu".
func (m *Manager) Name() string { return string(corev1.ResourceCPU) }

// Topology is the machine as the manager sees it.
func (m *Manager) Topology() *Topology { return m.topology }

// Reserved are the reserved CPUs; empty under policy none.
func (m *Manager) Reserved() cpuset.CPUSet {
	if m.policy == kubelet.CPUPolicyNone {
		return cpuset.New()
	}
	return m.topology.cpusetOf(m.reserved)
}

// Allocatable are the CPUs that containers can ever get exclusively; empty
// under policy none.
// kubelet v1.37: cm/cpumanager/policy_static.go GetAllocatableCPUs
func (m *Manager) Allocatable() cpuset.CPUSet {
	if m.policy == kubelet.CPUPolicyNone {
		return cpuset.New()
	}
	return m.topology.CPUs().Difference(m.Reserved())
}

// State is a copy of what the manager would write to cpu_manager_state.
func (m *Manager) State() State { return m.state.Clone() }

// Shared is the pool of the containers without CPUs of their own.
func (m *Manager) Shared() cpuset.CPUSet { return m.state.Default }

// Free counts, by the id of the NUMA node, the CPUs that an exclusive allocation
// may take now; none under policy none.
func (m *Manager) Free() map[int]int {
	free := map[int]int{}
	if m.policy == kubelet.CPUPolicyNone {
		return free
	}
	available := m.available()
	for i, id := range m.topology.numa.ids {
		free[id] = available.intersect(m.topology.numa.members[i]).count()
	}
	return free
}

// CPUs is the cpuset of a container, the shared pool unless it has an entry of
// its own. Empty under policy none: the kubelet then sets no cpuset.
// kubelet v1.37: cm/cpumanager/cpu_manager.go GetCPUAffinity
func (m *Manager) CPUs(pod types.UID, container string) (cpus cpuset.CPUSet, own bool) {
	if cpus, own := m.state.Entries[string(pod)][container]; own {
		return cpus, true
	}
	return m.state.Default, false
}

// PodCPUs are the CPUs of a pod with pod-level resources, where it got its own.
func (m *Manager) PodCPUs(pod types.UID) (cpus cpuset.CPUSet, ok bool) {
	cpus, ok = m.state.PodEntries[string(pod)]
	return cpus, ok
}
