package placement

import v1 "k8s.io/api/core/v1"

// Result is what became of a scenario, in the form of testdata/golden/placement,
// without explanations. The types are not those of kqos, which compiles with the
// API of 1.37 alone: an older judge is built with that of its minor, and a field
// that kqos loses or renames is a difference, not one lost on both sides.
type Result struct {
	Name        string            `json:"name"`
	StartError  *StartError       `json:"startError,omitempty"`
	Reserved    string            `json:"reserved,omitempty"`
	Allocatable string            `json:"allocatable,omitempty"`
	Initial     *State            `json:"initial,omitempty"`
	Events      []EventResult     `json:"events,omitempty"`
	Files       map[string]string `json:"files,omitempty"`
}

// EventResult is what became of one event.
type EventResult struct {
	Op         string        `json:"op"`
	Pod        string        `json:"pod,omitempty"`
	Admitted   *bool         `json:"admitted,omitempty"`
	Reason     string        `json:"reason,omitempty"`
	Message    string        `json:"message,omitempty"`
	Panic      string        `json:"panic,omitempty"`
	Containers []Container   `json:"containers,omitempty"`
	PodCPUs    string        `json:"podCPUs,omitempty"`
	PodMemory  []Memory      `json:"podMemory,omitempty"`
	Hints      HintLists     `json:"hints,omitempty"`
	Readmit    []EventResult `json:"readmit,omitempty"`
	StartError *StartError   `json:"startError,omitempty"`
	After      *State        `json:"after,omitempty"`
	Unchanged  bool          `json:"unchanged,omitempty"`
}

// HintLists are hints as text, by container and resource.
type HintLists map[string]map[string][]string

// StartError says where the kubelet's start ends.
type StartError struct {
	Stage   string `json:"stage"`
	Message string `json:"message"`
}

// Container is where one container landed.
type Container struct {
	Name      string              `json:"name"`
	Kind      string              `json:"kind,omitempty"`
	CPUs      string              `json:"cpus"`
	Exclusive bool                `json:"exclusive,omitempty"`
	Mems      string              `json:"mems,omitempty"`
	Memory    []Memory            `json:"memory,omitempty"`
	Devices   map[string][]string `json:"devices,omitempty"`
	Affinity  *Affinity           `json:"affinity,omitempty"`
}

// Memory is memory of one type on a set of NUMA nodes, in bytes.
type Memory struct {
	NUMA []int           `json:"numa"`
	Type v1.ResourceName `json:"type"`
	Size uint64          `json:"size"`
}

// Affinity is a merged hint.
type Affinity struct {
	NUMA      []int `json:"numa"`
	Preferred bool  `json:"preferred"`
}

// State is what the node has left to give.
type State struct {
	Default string               `json:"default"`
	NUMA    map[string]NUMAState `json:"numa,omitempty"`
}

// NUMAState is the memory of one NUMA node.
type NUMAState struct {
	Cells []int                      `json:"cells"`
	N     int                        `json:"n"`
	Free  map[v1.ResourceName]uint64 `json:"free"`
}
