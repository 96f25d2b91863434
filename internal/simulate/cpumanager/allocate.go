package cpumanager

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// reuse is what a pod's later containers may take of its ordinary init
// containers' CPUs. The kubelet keeps it for one pod at a time, and past the
// pod's end.
type reuse struct {
	pod  types.UID
	cpus set
}

// Allocate gives the container its exclusive CPUs, if it asks for any and has
// none, within the affinity as far as they go. What it had before stays, even
// if today's options would refuse it.
// kubelet v1.37: cm/cpumanager/policy_static.go allocateForAdd
func (m *Manager) Allocate(pod *corev1.Pod, c *corev1.Container, affinity topologymanager.Hint) error {
	if m.policy == kubelet.CPUPolicyNone {
		return nil
	}
	n := m.exclusive(pod, c)
	if n == 0 {
		return nil
	}
	entry, known := m.state.Entries[string(pod.UID)][c.Name]
	// kubelet v1.36 and before: what the container has is judged as well.
	if !known || !m.gates.Since(37) {
		if err := m.checkWholeCores(n); err != nil {
			return err
		}
	}
	if known {
		m.noteReuse(pod, c, m.topology.setOf(entry))
		return nil
	}
	cpus, err := m.claim(n, affinity.Affinity, m.reusable(pod))
	if err != nil {
		return err
	}
	m.setEntry(pod.UID, c.Name, m.topology.cpusetOf(cpus))
	m.noteReuse(pod, c, cpus)
	return nil
}

// checkWholeCores refuses, under full-pcpus-only, what cannot be whole cores.
// It counts CPUs, not cores, and leaves reusable ones out.
// kubelet v1.37: cm/cpumanager/policy_static.go enforceSMTAlignment
func (m *Manager) checkWholeCores(n int) error {
	if !m.options.FullPCPUsOnly {
		return nil
	}
	perCore := m.topology.CPUsPerCore()
	if perCore == 0 {
		return divideByZero("the machine tells fewer CPUs than cores")
	}
	if n%perCore != 0 {
		return smtError("requested %d cpus not multiple cpus per core = %d", n, perCore)
	}
	free := m.FreeOnWholeCores()
	if n > free {
		return smtError("not enough free physical CPUs: available physical CPUs = %d, requested CPUs = %d, CPUs per core = %d", free, n, perCore)
	}
	return nil
}

// FreeOnWholeCores counts the CPUs of the shared pool on cores without a
// reserved CPU, as full-pcpus-only does.
func (m *Manager) FreeOnWholeCores() int {
	return m.topology.setOf(m.state.Default).minus(m.reservedCores).count()
}

func smtError(format string, args ...any) error {
	return &topologymanager.RefusalError{
		Reason:  topologymanager.ReasonSMTAlignment,
		Message: "SMT Alignment Error: " + fmt.Sprintf(format, args...),
	}
}

// claim takes n CPUs out of the shared pool: as many as possible from the
// affinity's nodes, or with align-by-socket from their sockets, then the rest
// from anywhere. The two are separate runs of the allocator, and an error of
// the second tells its own numbers.
// kubelet v1.37: cm/cpumanager/policy_static.go allocateCPUs
func (m *Manager) claim(n int, affinity topologymanager.Mask, reusable set) (set, error) {
	candidates := m.available().union(reusable)
	result := m.none()
	if affinity != 0 {
		aligned := candidates.intersect(m.alignedWith(affinity))
		taken, err := m.choose(aligned, min(n, aligned.count()))
		if err != nil {
			return nil, err
		}
		result = taken
	}
	rest, err := m.choose(candidates.minus(result), n-result.count())
	if err != nil {
		return nil, err
	}
	result = result.union(rest)
	m.state.Default = m.state.Default.Difference(m.topology.cpusetOf(result))
	return result, nil
}

// alignedWith are the CPUs that count as those of the affinity.
// kubelet v1.37: cm/cpumanager/policy_static.go getAlignedCPUs
func (m *Manager) alignedWith(affinity topologymanager.Mask) set {
	groups, g := m.nodesIn(affinity), &m.topology.numa
	if m.options.AlignBySocket {
		groups, g = m.topology.socketsOf(groups), &m.topology.socket
	}
	cpus := m.none()
	for _, i := range groups {
		cpus = cpus.union(g.members[i])
	}
	return cpus
}

// choose runs the allocator that the options name.
// kubelet v1.37: cm/cpumanager/policy_static.go takeByTopology
func (m *Manager) choose(free set, n int) (set, error) {
	how := packing{spread: m.options.DistributeAcrossCores, byCache: m.options.PreferAlignByUncore}
	if !m.options.DistributeAcrossNUMA {
		return m.topology.takePacked(free, n, how)
	}
	group := 1
	if m.options.FullPCPUsOnly {
		group = m.topology.CPUsPerCore()
	}
	// kubelet v1.36 and before: align-by-socket does not bear on the distribution.
	since37 := m.gates.Since(37)
	return m.topology.takeDistributed(free, n, distribution{
		packing: how, group: group, bySocket: m.options.AlignBySocket && since37, capped: since37,
	})
}

// none is the empty set.
func (m *Manager) none() set { return newSet(len(m.topology.ids)) }

// available are the CPUs that an exclusive allocation may take.
// kubelet v1.37: cm/cpumanager/policy_static.go GetAvailableCPUs
func (m *Manager) available() set { return m.topology.setOf(m.state.Default).minus(m.reserved) }

func (m *Manager) reusable(pod *corev1.Pod) set {
	if m.reuse.pod != pod.UID || m.reuse.cpus == nil {
		return m.none()
	}
	return m.reuse.cpus
}

// noteReuse offers an ordinary init container's CPUs to the containers after
// it, and withdraws what any other container holds. A sidecar thus keeps what
// it took over from an init container.
// kubelet v1.37: cm/cpumanager/policy_static.go updateCPUsToReuse
func (m *Manager) noteReuse(pod *corev1.Pod, c *corev1.Container, cpus set) {
	reusable := m.reusable(pod)
	for i := range pod.Spec.InitContainers {
		init := &pod.Spec.InitContainers[i]
		if init.Name == c.Name && !qos.IsSidecar(init) {
			m.reuse = reuse{pod.UID, reusable.union(cpus)}
			return
		}
	}
	m.reuse = reuse{pod.UID, reusable.minus(cpus)}
}

func (m *Manager) setEntry(pod types.UID, container string, cpus cpuset.CPUSet) {
	put(&m.state.Entries, string(pod), container, cpus)
	if !m.keepsBaselines() {
		return
	}
	if _, ok := m.state.Baselines[string(pod)][container]; !ok {
		put(&m.state.Baselines, string(pod), container, cpus)
	}
}
