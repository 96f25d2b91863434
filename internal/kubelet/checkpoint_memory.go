package kubelet

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// MemoryManagerState is the content of memory_manager_state.
type MemoryManagerState struct {
	// PolicyName is None or Static.
	PolicyName string `json:"policyName"`
	// MachineState is the memory of each NUMA node; empty with policy None.
	MachineState NUMANodeMap `json:"machineState"`
	// Entries are the blocks of each container, by pod UID and name.
	Entries ContainerMemory `json:"entries,omitempty"`
	// PodEntries are the blocks of pods with pod-level resources, by UID; only
	// with the gate PodLevelResourceManagers.
	PodEntries PodMemoryMap `json:"podEntries,omitempty"`
}

// NUMANodeMap is the memory of the NUMA nodes by node id.
type NUMANodeMap map[int]*NUMANodeState

// NUMANodeState is what the memory manager knows of one NUMA node.
type NUMANodeState struct {
	// NumberOfAssignments counts blocks that use the node: a container with
	// memory and huge pages counts twice.
	NumberOfAssignments int `json:"numberOfAssignments"`
	// MemoryMap holds the node's memory by type: memory or hugepages-SIZE.
	MemoryMap map[corev1.ResourceName]*MemoryTable `json:"memoryMap"`
	// Cells are the nodes of the group that the node serves; itself when it
	// serves alone.
	Cells []int `json:"cells"`
}

// MemoryTable are the amounts of one type of memory on one node, in bytes.
type MemoryTable struct {
	TotalMemSize   uint64 `json:"total"`
	SystemReserved uint64 `json:"systemReserved"`
	Allocatable    uint64 `json:"allocatable"`
	Reserved       uint64 `json:"reserved"`
	Free           uint64 `json:"free"`
}

// MemoryBlock is memory of one type that a container has on a set of nodes.
type MemoryBlock struct {
	NUMAAffinity []int               `json:"numaAffinity"`
	Type         corev1.ResourceName `json:"type"`
	// Size in bytes.
	Size uint64 `json:"size"`
}

// ContainerMemory are the blocks of containers by pod UID and container name.
type ContainerMemory map[string]map[string][]MemoryBlock

// PodMemoryMap are the blocks of pods by UID.
type PodMemoryMap map[string]PodMemory

// PodMemory are the blocks of a pod as a whole.
type PodMemory struct {
	MemoryBlocks []MemoryBlock `json:"memoryBlocks,omitempty"`
}

// memoryFileV1 is the outer part of the file. Its members, and their order, are
// those of the kubelet's struct: they are hashed.
type memoryFileV1 struct {
	PolicyName   string          `json:"policyName"`
	MachineState NUMANodeMap     `json:"machineState"`
	Entries      ContainerMemory `json:"entries,omitempty"`
	Checksum     checksum        `json:"checksum"`
}

type memoryFileV2 struct {
	PolicyName   string          `json:"policyName"`
	MachineState NUMANodeMap     `json:"machineState"`
	Entries      ContainerMemory `json:"entries,omitempty"`
	PodEntries   PodMemoryMap    `json:"podEntries,omitempty"`
	Checksum     checksum        `json:"checksum"`
}

type memoryFileV3 struct {
	memoryFileV1
	versioned
}

// ReadMemoryManagerState reads a memory_manager_state of any version (v1, v2,
// v3) and verifies its checksum. A policyName that is not empty must be the
// file's. Errors are the kubelet's, without the sentence around them (see
// RestoreError).
//
// kubelet v1.37: cm/memorymanager/state/state_checkpoint.go restoreState.
func ReadMemoryManagerState(blob []byte, policyName string, g Gates) (*MemoryManagerState, error) {
	s, err := readMemoryData(blob, g)
	if err != nil {
		return nil, err
	}
	if policyName != "" && policyName != s.PolicyName {
		return nil, fmt.Errorf("[memorymanager] configured policy %q differs from state checkpoint policy %q", policyName, s.PolicyName)
	}
	if s.MachineState == nil {
		s.MachineState = NUMANodeMap{}
	}
	if s.Entries == nil {
		s.Entries = ContainerMemory{}
	}
	if !g.Enabled(GatePodLevelManagers) {
		s.PodEntries = nil
	}
	return s, nil
}

// readMemoryData tries the forms that the kubelet knows, the youngest first.
//
// kubelet v1.37: cm/memorymanager/state/state_checkpoint.go loadAndMigrateCheckpointV3;
// v1.36: the same, loadAndMigrateCheckpointV2; v1.35: restoreState.
func readMemoryData(blob []byte, g Gates) (*MemoryManagerState, error) {
	podLevel := g.Enabled(GatePodLevelManagers)
	if g.Since(firstVersioned) {
		var file memoryFileV3
		var data MemoryManagerState
		current, err := readVersioned(blob, "memory", "v3", &file, &file.versioned, &data)
		if current {
			return &data, err
		}
	}
	v2 := &memoryFileV2{Entries: ContainerMemory{}, PodEntries: PodMemoryMap{}, MachineState: NUMANodeMap{}}
	if (g.Since(firstVersioned) || podLevel) && json.Unmarshal(blob, v2) == nil {
		want := v2.Checksum
		v2.Checksum = 0
		if want == sum(v2, "MemoryManagerCheckpoint") {
			return &MemoryManagerState{v2.PolicyName, v2.MachineState, v2.Entries, v2.PodEntries}, nil
		}
	}
	v1 := &memoryFileV1{Entries: ContainerMemory{}, MachineState: NUMANodeMap{}}
	if err := json.Unmarshal(blob, v1); err != nil {
		return nil, err
	}
	// Since 1.36 a checksum of 0 is accepted, as of the CPU manager's old files.
	if want := v1.Checksum; want != 0 || !g.Since(firstPodLevel) {
		v1.Checksum = 0
		legacy := !podLevel && g.minor() == firstPodLevel && want == sum(v1, "MemoryManagerCheckpointV1")
		if !legacy && want != sum(v1, "MemoryManagerCheckpoint") {
			return nil, errCheckpointCorrupt
		}
	}
	return &MemoryManagerState{PolicyName: v1.PolicyName, MachineState: v1.MachineState, Entries: v1.Entries}, nil
}

// Marshal writes the file as a kubelet with these gates does: v3, before 1.37
// v2 with the gate PodLevelResourceManagers, else v1. The kubelet leaves the
// order of a container's blocks to chance; they are written in the order given.
// kubelet v1.37: cm/memorymanager/state/checkpoint.go MarshalCheckpoint
func (s *MemoryManagerState) Marshal(g Gates) ([]byte, error) {
	data := *s
	if data.MachineState == nil {
		data.MachineState = NUMANodeMap{}
	}
	if data.Entries == nil {
		data.Entries = ContainerMemory{}
	}
	if !g.Since(firstVersioned) && g.Enabled(GatePodLevelManagers) {
		v2 := memoryFileV2{PolicyName: data.PolicyName, MachineState: data.MachineState, Entries: data.Entries, PodEntries: data.PodEntries}
		if v2.PodEntries == nil {
			v2.PodEntries = PodMemoryMap{}
		}
		v2.Checksum = sum(&v2, "MemoryManagerCheckpoint")
		return json.Marshal(v2)
	}
	outer := memoryFileV1{PolicyName: data.PolicyName, MachineState: data.MachineState, Entries: data.Entries}
	outer.Checksum = sum(&outer, "MemoryManagerCheckpoint")
	if !g.Since(firstVersioned) {
		return json.Marshal(outer)
	}
	text, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", MemoryManagerStateFile, err)
	}
	return json.Marshal(memoryFileV3{outer, versioned{string(text), sumText(string(text))}})
}
