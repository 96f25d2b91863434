package gen

import (
	"pgregory.net/rapid"

	"github.com/kqos/kqos/internal/machine"
)

// Machine generates machines: one to four sockets, NUMA nodes below or above
// the sockets, one to two threads a core, caches of several cores, CPUs that are
// offline, nodes without CPUs or memory.
func Machine() *rapid.Generator[*machine.Machine] {
	return machineOf([]int{1, 1, 2, 2, 4}, []int{1, 1, 1, 2, 4})
}

// FewNodes generates machines of up to five NUMA nodes: the kubelet's hint merge
// takes minutes on sixteen.
func FewNodes() *rapid.Generator[*machine.Machine] {
	return machineOf([]int{1, 1, 2, 2}, []int{1, 1, 2})
}

func machineOf(sockets, nodes []int) *rapid.Generator[*machine.Machine] {
	return rapid.Custom(func(t *rapid.T) *machine.Machine {
		s := shape{
			sockets: rapid.SampledFrom(sockets).Draw(t, "sockets"),
			numa:    rapid.SampledFrom(nodes).Draw(t, "NUMA nodes a socket"),
			cores:   rapid.SampledFrom([]int{1, 2, 3, 4, 8}).Draw(t, "cores a node"),
			threads: rapid.SampledFrom([]int{1, 2, 2, 2, 4}).Draw(t, "threads"),
			caches:  rapid.SampledFrom([]int{1, 1, 2, 4}).Draw(t, "caches a node"),
		}
		// Two sockets within one NUMA node, as with node interleaving.
		s.merged = s.sockets > 1 && s.numa == 1 && rapid.IntRange(0, 6).Draw(t, "interleaved") == 0
		s.linux = rapid.Bool().Draw(t, "linux numbering")
		m := s.machine()
		irregular(t, m)
		memory(t, m)
		return m
	})
}

// shape is a regular machine.
type shape struct {
	sockets, numa, cores, threads, caches int
	merged, linux                         bool
}

func (s shape) machine() *machine.Machine {
	m := &machine.Machine{APIVersion: machine.APIVersion, Kind: machine.Kind}
	total := s.sockets * s.numa * s.cores
	m.CPUs = make([]machine.CPU, total*s.threads)
	core := 0
	for socket := range s.sockets {
		for n := range s.numa {
			for c := range s.cores {
				for thread := range s.threads {
					id := core*s.threads + thread
					if s.linux {
						id = thread*total + core
					}
					cpu := machine.CPU{ID: id, Core: n*s.cores + c, Socket: socket, NUMA: socket*s.numa + n, Online: true}
					cpu.LLC = cpu.NUMA*s.caches + c*s.caches/s.cores
					if s.merged {
						cpu.NUMA = 0
					}
					m.CPUs[id] = cpu
				}
				core++
			}
		}
	}
	nodes := s.sockets * s.numa
	if s.merged {
		nodes = 1
	}
	for id := range nodes {
		m.NUMA = append(m.NUMA, machine.Node{ID: id})
	}
	return m
}

// irregular takes CPUs offline and adds a node without CPUs.
func irregular(t *rapid.T, m *machine.Machine) {
	if rapid.IntRange(0, 3).Draw(t, "irregular") > 0 {
		return
	}
	for range rapid.IntRange(0, 3).Draw(t, "offline") {
		if i := rapid.IntRange(0, len(m.CPUs)-1).Draw(t, "CPU"); m.Online().Size() > 1 {
			m.CPUs[i] = machine.CPU{ID: m.CPUs[i].ID, Core: -1, Socket: -1, NUMA: -1, LLC: -1}
		}
	}
	if rapid.Bool().Draw(t, "node without CPUs") {
		m.NUMA = append(m.NUMA, machine.Node{ID: len(m.NUMA)})
	}
}

// memory draws what the nodes have, and their distances.
func memory(t *rapid.T, m *machine.Machine) {
	sizes := rapid.SampledFrom([][]string{nil, {"2Mi"}, {"2Mi", "1Gi"}}).Draw(t, "page sizes")
	for i := range m.NUMA {
		n := &m.NUMA[i]
		n.Memory = int64(rapid.SampledFrom([]int{1, 4, 8, 8, 16, 32, 0}).Draw(t, "GiB")) << 30
		if i == 0 && n.Memory == 0 {
			n.Memory = 8 << 30
		}
		if rapid.IntRange(0, 5).Draw(t, "odd memory") == 0 {
			n.Memory = n.Memory * 99 / 100
		}
		for _, size := range sizes {
			if n.HugePages == nil {
				n.HugePages = map[string]int64{}
			}
			n.HugePages[size] = int64(rapid.SampledFrom([]int{0, 1, 2, 8}).Draw(t, "pages"))
		}
		for j := range m.NUMA {
			d := 10
			if i != j {
				d = rapid.SampledFrom([]int{11, 12, 20, 20, 21, 32}).Draw(t, "distance")
			}
			n.Distances = append(n.Distances, d)
		}
		m.Memory += n.Memory
	}
}
