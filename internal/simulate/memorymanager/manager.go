// Package memorymanager pins memory and huge pages of Guaranteed pods to NUMA
// nodes as the kubelet's memory manager does, to the byte.
//
//	m, err := memorymanager.New(memorymanager.Config{Policy: kubelet.MemoryPolicyStatic, Machine: mach, Reserved: cfg.ReservedMemory, NodeReservation: reservation})
//	err = m.Start(nil)
//	hints, err := m.Hints(pod, &pod.Spec.Containers[0])
//	err = m.Allocate(pod, &pod.Spec.Containers[0], affinity)
//	fmt.Println(m.Blocks(string(pod.UID), "app"))
package memorymanager

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/qos"
)

// Config is what a memory manager is made of.
type Config struct {
	Policy  string
	Machine *machine.Machine
	// Reserved is the field reservedMemory.
	Reserved []kubeletv1beta1.MemoryReservation
	// NodeReservation is what Node Allocatable reserves: kubeReserved,
	// systemReserved and the hard eviction threshold together.
	NodeReservation corev1.ResourceList
	Gates           kubelet.Gates
}

// Manager is the memory manager of one kubelet. It is a
// topologymanager.Provider.
type Manager struct {
	policy   string
	gates    kubelet.Gates
	machine  *machine.Machine
	reserved reservation

	// written is true once the kubelet would have written its state file.
	written bool
	// chance is true once the order of a map decided something.
	chance  bool
	nodes   kubelet.NUMANodeMap
	blocks  kubelet.ContainerMemory
	pods    kubelet.PodMemoryMap
	reuse   reusable
	nodeIDs []int
}

// New makes the manager or fails with the kubelet's error.
// kubelet v1.37: cm/memorymanager/memory_manager.go NewManager
func New(c Config) (*Manager, error) {
	m := &Manager{policy: c.Policy, gates: c.Gates, machine: c.Machine}
	if err := allocatable.CheckMemoryPolicy(c.Policy); err != nil {
		return nil, err
	}
	if c.Policy == kubelet.MemoryPolicyNone {
		return m, nil
	}
	for _, n := range c.Machine.NUMA {
		m.nodeIDs = append(m.nodeIDs, n.ID)
	}
	slices.Sort(m.nodeIDs)
	var err error
	if m.reserved, err = m.readReserved(c.Reserved, c.NodeReservation); err != nil {
		return nil, err
	}
	return m, nil
}

// Start takes over the state that an earlier kubelet left, nil for none. A
// state that does not fit the machine and the reservations is an error, in the
// kubelet's words; a *topologymanager.CrashError where the kubelet would crash
// on it.
func (m *Manager) Start(s *kubelet.MemoryManagerState) error {
	m.nodes, m.blocks, m.pods = kubelet.NUMANodeMap{}, kubelet.ContainerMemory{}, nil
	m.reuse, m.written = reusable{}, s == nil
	if m.gates.Enabled(kubelet.GatePodLevelManagers) {
		m.pods = kubelet.PodMemoryMap{}
	}
	if s != nil {
		copied := clone(s)
		m.nodes, m.blocks = copied.MachineState, copied.Entries
		if m.pods != nil && copied.PodEntries != nil {
			m.pods = copied.PodEntries
		}
	}
	if m.policy != kubelet.MemoryPolicyStatic {
		return nil
	}
	return m.validate()
}

// Name is memory.
func (m *Manager) Name() string { return "memory" }

// Static tells whether the manager pins at all.
func (m *Manager) Static() bool { return m.policy == kubelet.MemoryPolicyStatic }

// State is what the state file holds now.
func (m *Manager) State() *kubelet.MemoryManagerState {
	return clone(&kubelet.MemoryManagerState{PolicyName: m.policy, MachineState: m.nodes, Entries: m.blocks, PodEntries: m.pods})
}

// Chance tells whether the order of a map, in the kubelet random, decided a
// start or a message so far.
func (m *Manager) Chance() bool { return m.chance }

// Nodes is the memory of every NUMA node as it stands; empty with policy None.
// It must not be changed.
func (m *Manager) Nodes() kubelet.NUMANodeMap { return m.nodes }

// Written tells whether the kubelet has written its state file since Start. It
// leaves a file alone that nothing changes, also one of an older form.
func (m *Manager) Written() bool { return m.written }

// Blocks are the memory blocks of a container, by type; none when it has no
// entry.
func (m *Manager) Blocks(podUID, container string) []kubelet.MemoryBlock {
	return slices.Clone(m.blocks[podUID][container])
}

// PodBlocks are the blocks of a pod with pod-level resources.
func (m *Manager) PodBlocks(podUID string) []kubelet.MemoryBlock {
	return slices.Clone(m.pods[podUID].MemoryBlocks)
}

// RemoveStale drops the entries of pods that are not active.
// kubelet v1.37: cm/memorymanager/memory_manager.go removeStaleState
func (m *Manager) RemoveStale(active func(podUID string) bool) {
	if !m.Static() {
		return
	}
	for _, uid := range slices.Sorted(maps.Keys(m.blocks)) {
		if active(uid) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(m.blocks[uid])) {
			m.removeContainer(uid, name)
		}
	}
}

// ContainerStarted releases the memory of the ordinary init containers before
// the one that starts: each has ended by then.
// kubelet v1.37: cm/memorymanager/memory_manager.go AddContainer
func (m *Manager) ContainerStarted(pod *corev1.Pod, container string) {
	if !m.Static() {
		return
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if c.Name == container {
			return
		}
		if !qos.IsSidecar(c) {
			m.removeContainer(string(pod.UID), c.Name)
		}
	}
}

// removeContainer drops a container's entry. A pod with pod-level resources
// keeps its memory until its last entry goes.
// kubelet v1.37: cm/memorymanager/policy_static.go RemoveContainer
func (m *Manager) removeContainer(uid, name string) {
	if pod, ok := m.pods[uid]; ok {
		m.drop(uid, name)
		if len(m.blocks[uid]) == 0 {
			m.release(pod.MemoryBlocks)
			delete(m.pods, uid)
		}
		return
	}
	blocks, ok := m.blocks[uid][name]
	if !ok {
		return
	}
	m.drop(uid, name)
	m.release(blocks)
}

func (m *Manager) drop(uid, name string) {
	m.written = true
	delete(m.blocks[uid], name)
	if len(m.blocks[uid]) == 0 {
		delete(m.blocks, uid)
	}
}

func (m *Manager) set(uid, name string, blocks []kubelet.MemoryBlock) {
	m.written = true
	if m.blocks[uid] == nil {
		m.blocks[uid] = map[string][]kubelet.MemoryBlock{}
	}
	m.blocks[uid][name] = blocks
}

// clone copies a state, so that neither side sees the other's changes.
func clone(s *kubelet.MemoryManagerState) *kubelet.MemoryManagerState {
	c := &kubelet.MemoryManagerState{
		PolicyName:   s.PolicyName,
		MachineState: kubelet.NUMANodeMap{},
		Entries:      kubelet.ContainerMemory{},
	}
	for id, n := range s.MachineState {
		if n == nil {
			c.MachineState[id] = nil
			continue
		}
		node := &kubelet.NUMANodeState{NumberOfAssignments: n.NumberOfAssignments, Cells: append([]int{}, n.Cells...)}
		if n.MemoryMap != nil {
			node.MemoryMap = map[corev1.ResourceName]*kubelet.MemoryTable{}
		}
		for typ, table := range n.MemoryMap {
			if table != nil {
				copied := *table
				node.MemoryMap[typ] = &copied
			} else {
				node.MemoryMap[typ] = nil
			}
		}
		c.MachineState[id] = node
	}
	for uid, containers := range s.Entries {
		c.Entries[uid] = map[string][]kubelet.MemoryBlock{}
		for name, blocks := range containers {
			c.Entries[uid][name] = append([]kubelet.MemoryBlock{}, blocks...)
		}
	}
	if s.PodEntries != nil {
		c.PodEntries = kubelet.PodMemoryMap{}
		for uid, pod := range s.PodEntries {
			c.PodEntries[uid] = kubelet.PodMemory{MemoryBlocks: append([]kubelet.MemoryBlock{}, pod.MemoryBlocks...)}
		}
	}
	return c
}
