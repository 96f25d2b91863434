package cgroups

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
)

// Node is what decides the cgroups of a node besides its pods.
type Node struct {
	Config *kubelet.Config
	Platform
	// Capacity as far as known. What is missing is not set.
	Capacity corev1.ResourceList
	// Result is what the node's configuration leaves to pods.
	Result *allocatable.Result
	// Incomplete, if not empty, says why the pods may not be all of the node's.
	// What is a sum over them is then unknown.
	Incomplete string
	// Containers asks for the cgroups of containers too.
	Containers bool
}

// NewNode computes what a node's cgroups depend on. The findings are those for
// which a kubelet would not start there. The page sizes are those of the
// capacity.
func NewNode(cfg *kubelet.Config, n allocatable.Node, driver string) (Node, []kubelet.Finding) {
	node := Node{
		Config: cfg, Capacity: maps.Clone(n.Capacity),
		Platform: Platform{Driver: driver, Version: n.CgroupVersion, PageSizes: capacityPageSizes(n.Capacity)},
	}
	result, findings := allocatable.Compute(cfg, n)
	node.Result = result
	return node, findings
}

// capacityPageSizes lists the page sizes that a node knows as cgroup files name
// them.
func capacityPageSizes(capacity corev1.ResourceList) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(capacity)) {
		size, ok := strings.CutPrefix(string(name), corev1.ResourceHugePagesPrefix)
		if !ok {
			continue
		}
		// A size that has no name in cgroup files has no file either.
		if found, err := PageSizeNames([]string{size}); err == nil {
			names = append(names, found...)
		}
	}
	return names
}

// static tells whether the CPU manager gives CPUs away.
func (n Node) static() bool { return n.Config.CPUManagerPolicy == kubelet.CPUPolicyStatic }

// amount is a resource's value in whole units, rounded up; ok is false for one
// that is not known.
func amount(list corev1.ResourceList, name corev1.ResourceName) (n int64, ok bool) {
	q, ok := list[name]
	return q.Value(), ok
}

// Assignment is what the CPU and memory managers gave to a container.
type Assignment struct {
	// CPUs it may run on; empty leaves it where its pod is.
	CPUs cpuset.CPUSet
	// Mems are the NUMA nodes it may take memory from; empty leaves that too.
	Mems cpuset.CPUSet
	// Exclusive says that the CPU manager keeps an entry with the CPUs: they are
	// the container's alone or, see [qos.Isolated], its pod's.
	Exclusive bool
}

// Placement holds assignments by pod UID and container name.
type Placement map[string]map[string]Assignment
