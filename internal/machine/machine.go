// Package machine holds the hardware that a kubelet runs on as one plain
// value, and reads it from every source in which engineers keep machines.
//
//	m, err := machine.Load(ctx, "synthetic:sockets=2,numa=2,cores=32,threads=2,memory=256Gi")
//	fmt.Println(len(m.CPUs), m.NUMA[1].Memory)
package machine

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
	// HugePages counts the machine's preallocated pages by size where they are
	// not the sum over the NUMA nodes.
	HugePages map[string]int64 `json:"hugepages,omitempty"`
	// Counts are the numbers of the kubelet that do not follow from CPUs.
	Counts *Counts `json:"counts,omitempty"`
	// CPUs are all logical CPUs, offline ones included, by rising ID.
	CPUs []CPU `json:"cpus"`
	// NUMA are the NUMA nodes by rising ID, those without CPUs or memory included.
	NUMA []Node `json:"numa"`
	// Caches are the caches of level 2 and above, by level and first CPU.
	Caches []Cache `json:"caches,omitempty"`
	// Devices are what device plugins would offer, by resource and ID.
	Devices []Device `json:"devices,omitempty"`
	// PCI are the devices on the PCI bus that pods come near to, by address.
	PCI []PCIDevice `json:"pci,omitempty"`
	// Assumptions name what the source did not tell and what was taken instead.
	Assumptions []string `json:"assumptions,omitempty"`
}

// Counts are numbers that cAdvisor takes from another place than the list of
// CPUs. One that agrees with the list is 0.
type Counts struct {
	// CPUs is what the kubelet takes for the number of logical CPUs.
	CPUs int `json:"cpus,omitempty"`
	// Sockets is the number of packages that /proc/cpuinfo tells.
	Sockets int `json:"sockets,omitempty"`
}

// CPU is one logical CPU.
type CPU struct {
	// ID is the kernel's number of the logical CPU.
	ID int `json:"id"`
	// Core is the kernel's core_id. A core is the CPUs of equal NUMA, Socket and
	// Core, as cAdvisor groups them. An offline CPU has no known core, socket,
	// node or cache: -1.
	Core int `json:"core"`
	// Socket is the physical package.
	Socket int `json:"socket"`
	// NUMA is the node that the CPU belongs to.
	NUMA int `json:"numa"`
	// LLC is the id of the hardware's last level cache.
	LLC int `json:"llc"`
	// Uncore is the id of the uncore cache that cAdvisor reports, NoUncore for
	// none. Set only where UncoreCaches would make something else of LLC.
	Uncore *int `json:"uncore,omitempty"`
	// Online is false for a CPU that the kernel does not run on. The kubelet
	// knows nothing of such a CPU. Absent in a snapshot means true.
	Online bool `json:"online"`
	// Hidden says why the kubelet does not know a CPU that the kernel does run
	// on. Such a CPU has Online false.
	Hidden string `json:"hidden,omitempty"`
	// Isolated is true when the scheduler leaves the CPU alone (isolcpus=).
	Isolated bool `json:"isolated,omitempty"`
	// Die is the die within the package, nil when unknown.
	Die *int `json:"die,omitempty"`
	// Type tells the kinds of cores of a hybrid machine apart: "performance" or
	// "efficiency"; empty when all are alike.
	Type CoreType `json:"type,omitempty"`
}

// CoreType is the kind of a hybrid machine's core.
type CoreType string

// The kinds of cores, by the kernel's cpu_core and cpu_atom or by cpu_capacity.
const (
	Performance CoreType = "performance"
	Efficiency  CoreType = "efficiency"
)

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

// Cache is one cache of the hardware.
type Cache struct {
	// Level is 2 or more.
	Level int `json:"level"`
	// Size in bytes, 0 when unknown.
	Size int64 `json:"size,omitempty"`
	// CPUs that share it, in the kernel's list format.
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

// PCIDevice is one PCI function.
type PCIDevice struct {
	// Address such as "0000:3b:00.0".
	Address string `json:"address"`
	// Class is "network", "gpu", "nvme", "accelerator" or "infiniband".
	Class string `json:"class"`
	// Vendor and Device are the hexadecimal ids, such as "8086" and "1592".
	Vendor string `json:"vendor,omitempty"`
	Device string `json:"device,omitempty"`
	// NUMA is the node that the device is attached to, -1 when the firmware does
	// not say.
	NUMA int `json:"numa"`
	// Names are the kernel's names, such as "eth0" or "nvme0".
	Names []string `json:"names,omitempty"`
	// Functions is the number of SR-IOV functions in use, MaxFunctions what the
	// device can offer.
	Functions    int `json:"functions,omitempty"`
	MaxFunctions int `json:"maxFunctions,omitempty"`
	// Physical is the address of the physical function when this is a virtual one.
	Physical string `json:"physical,omitempty"`
}
