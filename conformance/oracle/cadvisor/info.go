// Package cadvisor gives a machine the form in which the kubelet gets it.
//
//	info := cadvisor.Info(m)
package cadvisor

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/machine"
)

// Info is cAdvisor's view of the machine. Which caches are uncore caches is
// taken from the machine: cAdvisor's own rule on that is not under test here.
func Info(m *machine.Machine) *MachineInfo {
	info := &MachineInfo{
		NumCores: m.NumCPUs(), NumSockets: m.NumSockets(), NumPhysicalCores: len(m.Cores()),
		MemoryCapacity: uint64(m.Memory), HugePages: pages(m.HugePageCounts()),
	}
	if m.Memory == 0 {
		for _, n := range m.NUMA {
			info.MemoryCapacity += uint64(n.Memory)
		}
	}
	if m.Swap != nil {
		info.SwapCapacity = uint64(*m.Swap)
	}
	uncore := m.UncoreCaches()
	for _, n := range m.NUMA {
		node := Node{Id: n.ID, Memory: uint64(n.Memory), HugePages: pages(n.HugePages)}
		for _, d := range n.Distances {
			node.Distances = append(node.Distances, uint64(d))
		}
		for _, core := range m.Cores() {
			if core[0].NUMA != n.ID {
				continue
			}
			c := Core{Id: core[0].Core, SocketID: core[0].Socket}
			for _, cpu := range core {
				c.Threads = append(c.Threads, cpu.ID)
			}
			if id := uncore[core[0].ID]; id != machine.NoUncore {
				c.UncoreCaches = []Cache{{Id: id, Level: 3}}
			}
			node.Cores = append(node.Cores, c)
		}
		info.Topology = append(info.Topology, node)
	}
	return info
}

func pages(counts map[string]int64) []HugePagesInfo {
	var out []HugePagesInfo
	for _, size := range slices.Sorted(maps.Keys(counts)) {
		q := resource.MustParse(size)
		out = append(out, HugePagesInfo{PageSize: uint64(q.Value()) / 1024, NumPages: uint64(counts[size])})
	}
	return out
}
