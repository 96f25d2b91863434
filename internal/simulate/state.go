package simulate

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
)

// State is what a node has left to give.
type State struct {
	// Default is the shared pool in the kernel's list format; empty under CPU
	// policy none.
	Default string `json:"default"`
	// NUMA is the memory of the nodes by id; only with the static memory policy.
	NUMA map[string]NUMAState `json:"numa,omitempty"`
}

// NUMAState is the memory of one NUMA node.
type NUMAState struct {
	// Cells is the group that the node serves in.
	Cells []int `json:"cells"`
	// N is the number of assignments.
	N int `json:"n"`
	// Free is in bytes by type.
	Free map[corev1.ResourceName]uint64 `json:"free"`
}

// Container is where one container landed.
type Container struct {
	Name string `json:"name"`
	// Kind is init or sidecar; empty for an app container.
	Kind string `json:"kind,omitempty"`
	// CPUs is the container's cpuset, the shared pool unless Exclusive.
	CPUs      string `json:"cpus"`
	Exclusive bool   `json:"exclusive,omitempty"`
	// Mems is its cpuset.mems; empty when it is not set.
	Mems    string              `json:"mems,omitempty"`
	Memory  []Memory            `json:"memory,omitempty"`
	Devices map[string][]string `json:"devices,omitempty"`
	// Affinity is the merged hint; nil under topology policy none.
	Affinity *Affinity `json:"affinity,omitempty"`
}

// Memory is memory of one type on a set of NUMA nodes.
type Memory struct {
	NUMA []int               `json:"numa"`
	Type corev1.ResourceName `json:"type"`
	// Size in bytes.
	Size uint64 `json:"size"`
}

// Affinity is a merged hint; without nodes it means no preference.
type Affinity struct {
	NUMA      []int `json:"numa"`
	Preferred bool  `json:"preferred"`
}

// State is the node as it stands.
func (n *Node) State() State {
	s := State{Default: n.cpus.Shared().String()}
	if !n.memory.Static() {
		return s
	}
	s.NUMA = map[string]NUMAState{}
	for id, node := range n.memory.Nodes() {
		free := make(map[corev1.ResourceName]uint64, len(node.MemoryMap))
		for typ, table := range node.MemoryMap {
			free[typ] = table.Free
		}
		s.NUMA[strconv.Itoa(id)] = NUMAState{Cells: slices.Clone(node.Cells), N: node.NumberOfAssignments, Free: free}
	}
	return s
}

// Reserved and Allocatable are the CPUs kept from and open to exclusive use;
// empty under CPU policy none.
func (n *Node) Reserved() cpuset.CPUSet { return n.cpus.Reserved() }

// Allocatable are the CPUs that containers can get for themselves.
func (n *Node) Allocatable() cpuset.CPUSet { return n.cpus.Allocatable() }

// describe reads back what the containers of an admitted pod got.
func (n *Node) describe(a *Admission) {
	pod := a.Pod
	for c := range qos.Containers(pod) {
		cpus, own := n.cpus.CPUs(pod.UID, c.Name)
		blocks := n.memory.Blocks(string(pod.UID), c.Name)
		placed := Container{
			Name: c.Name, Kind: kindOf(pod, c), CPUs: cpus.String(), Exclusive: own,
			Mems: mems(blocks), Memory: memoryOf(blocks), Devices: n.devices.Devices(string(pod.UID), c.Name),
		}
		if h, ok := a.Verdict.Affinity[c.Name]; ok {
			placed.Affinity = &Affinity{Preferred: h.Preferred}
			if h.Affinity != 0 {
				placed.Affinity.NUMA = h.Affinity.Nodes()
			}
		}
		a.Containers = append(a.Containers, placed)
	}
	if cpus, ok := n.cpus.PodCPUs(pod.UID); ok {
		a.PodCPUs = cpus.String()
	}
	a.PodMemory = memoryOf(n.memory.PodBlocks(string(pod.UID)))
}

func kindOf(pod *corev1.Pod, c *corev1.Container) string {
	for i := range pod.Spec.InitContainers {
		if &pod.Spec.InitContainers[i] != c {
			continue
		}
		if qos.IsSidecar(c) {
			return "sidecar"
		}
		return "init"
	}
	return ""
}

// mems is the union of the blocks' nodes, each written out.
// kubelet v1.37: cm/internal_container_lifecycle_linux.go PreCreateContainer
func mems(blocks []kubelet.MemoryBlock) string {
	var nodes []string
	for _, b := range blocks {
		for _, id := range b.NUMAAffinity {
			if !slices.Contains(nodes, strconv.Itoa(id)) {
				nodes = append(nodes, strconv.Itoa(id))
			}
		}
	}
	return strings.Join(nodes, ",")
}

func memoryOf(blocks []kubelet.MemoryBlock) []Memory {
	var list []Memory
	for _, b := range blocks {
		list = append(list, Memory{NUMA: b.NUMAAffinity, Type: b.Type, Size: b.Size})
	}
	slices.SortStableFunc(list, func(a, b Memory) int { return cmp.Compare(a.Type, b.Type) })
	return list
}
