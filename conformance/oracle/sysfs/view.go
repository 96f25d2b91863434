package sysfs

import (
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/topology"

	"github.com/kqos/kqos/conformance/oracle/cadvisor"
)

// View is what the kubelet's managers know of a machine.
type View struct {
	// Error is that of the CPU manager, which then knows no CPU.
	Error     string                   `json:"error,omitempty"`
	CPUs      map[int]topology.CPUInfo `json:"cpus,omitempty"`
	NumCPUs   int                      `json:"numCPUs"`
	Sockets   int                      `json:"sockets"`
	Nodes     map[int]Node             `json:"nodes,omitempty"`
	Memory    uint64                   `json:"memory"`
	Swap      uint64                   `json:"swap"`
	HugePages map[uint64]uint64        `json:"hugePages,omitempty"`
}

// Node is a NUMA node, with huge pages by their size in KiB.
type Node struct {
	Memory    uint64            `json:"memory"`
	HugePages map[uint64]uint64 `json:"hugePages,omitempty"`
	Distances []uint64          `json:"distances,omitempty"`
}

// ViewOf is the kubelet's of what cAdvisor tells it.
func ViewOf(info *cadvisor.MachineInfo) View {
	v := View{
		NumCPUs: info.NumCores, Sockets: info.NumSockets, Memory: info.MemoryCapacity, Swap: info.SwapCapacity,
		HugePages: pages(info.HugePages), Nodes: map[int]Node{},
	}
	found, err := topology.Discover(klog.Background(), info)
	if err != nil {
		v.Error = err.Error()
		return v
	}
	// Without any CPU below a node there may be no node either, of which kqos makes one.
	if v.CPUs = found.CPUDetails; len(v.CPUs) == 0 {
		return v
	}
	for _, n := range info.Topology {
		v.Nodes[n.Id] = Node{Memory: n.Memory, HugePages: pages(n.HugePages), Distances: n.Distances}
	}
	return v
}

func pages(list []cadvisor.HugePagesInfo) map[uint64]uint64 {
	out := map[uint64]uint64{}
	for _, p := range list {
		out[p.PageSize] = p.NumPages
	}
	return out
}
