// Package machine holds the hardware that a kubelet runs on as one plain
// value, and reads it from every source in which engineers keep machines.
//
//	m, err := machine.Load(ctx, "synthetic:sockets=2,numa=2,cores=32,threads=2,memory=256Gi")
//	fmt.Println(len(m.CPUs), m.NUMA[1].Memory)
package machine

import "slices"

// Group and version, and the kind, of a Machine written as JSON or YAML.
const (
	APIVersion = "kqos.io/v1alpha1"
	Kind       = "Machine"
)

// Machine is a node's hardware as the kubelet sees it through cAdvisor. Where
// the hardware says otherwise, the kubelet's view stands in the main fields.
// It is itself the snapshot format that --topology takes.
type Machine struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`

	// Source says where the machine was read from: a path, "this host", or the
	// synthetic string.
	Source string `json:"source,omitempty"`
	// Memory is MemTotal in bytes. It can be less than the sum over the NUMA
	// nodes, and is 0 when unknown.
	Memory int64 `json:"memory,omitempty"`
	// Swap is SwapTotal in bytes; nil when unknown.
	Swap *int64 `json:"swap,omitempty"`
	// CPUs are all logical CPUs, offline ones included, by rising ID.
	CPUs []CPU `json:"cpus"`
	// NUMA are the NUMA nodes by rising ID, those without CPUs or memory included.
	NUMA []Node `json:"numa"`
	// Devices are what device plugins would offer, by resource and ID.
	Devices []Device `json:"devices,omitempty"`
	// Assumptions name what the source did not tell and what was taken instead.
	Assumptions []string `json:"assumptions,omitempty"`
}

// CPU is one logical CPU.
type CPU struct {
	// ID is the kernel's number of the logical CPU.
	ID int `json:"id"`
	// Core is the kernel's core_id. A core is the CPUs of equal NUMA, Socket and
	// Core, as cAdvisor groups them.
	Core int `json:"core"`
	// Socket is the physical package.
	Socket int `json:"socket"`
	// NUMA is the node that the CPU belongs to.
	NUMA int `json:"numa"`
	// LLC is the id of the hardware's last level cache.
	LLC int `json:"llc"`
	// Online is false for a CPU that the kernel does not run on. The kubelet
	// knows nothing of such a CPU. Absent in a snapshot means true.
	Online bool `json:"online"`
}

// Node is one NUMA node.
type Node struct {
	ID int `json:"id"`
	// Memory in bytes.
	Memory int64 `json:"memory"`
	// HugePages counts preallocated pages by size, such as "2Mi" or "1Gi".
	HugePages map[string]int64 `json:"hugepages,omitempty"`
	// Distances to every node in order of their IDs, as in the SLIT table.
	Distances []int `json:"distances,omitempty"`
	// CPUs in the kernel's list format. Derived when written, ignored when read.
	CPUs string `json:"cpus"`
}

// Device is one unit of an extended resource.
type Device struct {
	Resource string `json:"resource"`
	ID       string `json:"id"`
	// NUMA nodes that the device is close to; empty when it has no affinity.
	NUMA []int `json:"numa,omitempty"`
	// Healthy is false for a device that its plugin reports broken. Absent in a
	// snapshot means true.
	Healthy bool `json:"healthy"`
}

// HugePageSizes lists the page sizes that any node knows, such as "2Mi",
// sorted; a size with no preallocated page counts too.
func (m *Machine) HugePageSizes() []string {
	var sizes []string
	for _, n := range m.NUMA {
		for s := range n.HugePages {
			if !slices.Contains(sizes, s) {
				sizes = append(sizes, s)
			}
		}
	}
	slices.Sort(sizes)
	return sizes
}
