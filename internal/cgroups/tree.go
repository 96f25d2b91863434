// Package cgroups computes the cgroup tree that a kubelet keeps: names under
// both drivers, settings as v1 and v2 control files and systemd properties,
// and the difference between a wanted and a live tree. It is pure.
//
//	node, findings := cgroups.NewNode(config, allocatable.NewNode(machine, nil, 2), cgroups.Systemd)
//	tree, err := cgroups.Desired(node, pods, nil)
//	fmt.Println(tree.Cgroups[0].Path, tree.Cgroups[0].Files["memory.max"]) // /kubepods.slice 16777216000
//	changes := cgroups.Diff(tree, live)
package cgroups

import "path"

// Level places a cgroup in the kubelet's hierarchy.
type Level string

// The levels from the root of pods downwards. LevelNode is kubepods,
// LevelReserved the cgroups of the reservations beside it.
const (
	LevelNode      Level = "node"
	LevelReserved  Level = "reserved"
	LevelQoS       Level = "qos"
	LevelPod       Level = "pod"
	LevelContainer Level = "container"
)

// PodRef names the pod that a cgroup belongs to.
type PodRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// Cgroup is one wanted cgroup with all that is set on it.
type Cgroup struct {
	// Name is the kubelet's internal name, such as [kubepods burstable].
	Name []string `json:"name"`
	// Path starts below the cgroup mount, such as /kubepods.slice.
	Path  string  `json:"path"`
	Level Level   `json:"level"`
	Pod   *PodRef `json:"pod,omitempty"`
	// Container is the container's name at LevelContainer.
	Container string `json:"container,omitempty"`
	// Files are the control files as the kubelet writes them; v1 files are keyed
	// controller/file.
	Files map[string]string `json:"files"`
	// CPUShares are what a cpu.weight was converted from, 0 where none is set:
	// other writers convert otherwise.
	CPUShares uint64 `json:"-"`
	// OOMScoreAdj of the processes of a container, for which no cgroup file
	// exists; nil where it depends on an unknown memory capacity.
	OOMScoreAdj *int64 `json:"oomScoreAdj,omitempty"`
	// Unit and Properties are set under the systemd driver; properties are keyed
	// by D-Bus name, 2^64-1 reads infinity.
	Unit       string            `json:"unit,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
	// Why gives for each file the field or rule that its value comes from.
	Why map[string]string `json:"why,omitempty"`
	// Unknown lists files whose value is a sum over pods that are not all
	// known, with the reason. They are shown and never written.
	Unknown map[string]string `json:"unknown,omitempty"`
}

// Tree is the wanted state of a node, parents before children.
type Tree struct {
	Driver  string
	Version int
	Cgroups []Cgroup
}

// Root is the path of the cgroup root, in which kubepods stands: "/" unless
// cgroupRoot is configured.
func (t *Tree) Root() string {
	for i := range t.Cgroups {
		if t.Cgroups[i].Level == LevelNode {
			return path.Dir(t.Cgroups[i].Path)
		}
	}
	return "/"
}
