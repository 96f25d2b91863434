package cpumanager

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/kqos/kqos/internal/machine"
)

// shape is a regular machine, from which an irregular one is made.
type shape struct{ sockets, nodesPerSocket, socketsPerNode, cores, threads, coresPerCache int }

// machines generates machines as far as CPUs go, wilder than gen.Machine: every
// other one has CPUs offline, cores on any node and socket, ids in any order or
// gaps in the numbering. There are no more than 64 cores and 10 NUMA nodes, so
// that everything can be tried on them.
func machines() *rapid.Generator[*machine.Machine] {
	return rapid.Custom(func(t *rapid.T) *machine.Machine {
		m := regular(t)
		if rapid.Bool().Draw(t, "irregular") {
			disturb(t, m)
		}
		slices.SortFunc(m.CPUs, func(a, b machine.CPU) int { return a.ID - b.ID })
		slices.SortFunc(m.NUMA, func(a, b machine.Node) int { return a.ID - b.ID })
		return m
	})
}

func regular(t *rapid.T) *machine.Machine {
	s := shape{sockets: rapid.IntRange(1, 8).Draw(t, "sockets"), nodesPerSocket: 1, socketsPerNode: 1}
	switch rapid.IntRange(0, 3).Draw(t, "nodes") {
	case 0:
		s.nodesPerSocket = rapid.SampledFrom([]int{2, 4}).Draw(t, "nodes per socket")
	case 1:
		s.socketsPerNode = rapid.IntRange(1, s.sockets).Draw(t, "sockets per node")
	}
	// The kubelet's work doubles with each node.
	most := rapid.SampledFrom([]int{6, 6, 6, 6, 6, 6, 8, 8, 8, 10}).Draw(t, "most nodes")
	s.sockets = min(s.sockets, most/s.nodesPerSocket)
	nodes := max(s.sockets/s.socketsPerNode, 1) * s.nodesPerSocket
	s.cores = rapid.IntRange(1, max(1, 64/max(nodes, s.sockets))).Draw(t, "cores per node or socket")
	s.threads = rapid.SampledFrom([]int{1, 2, 2, 2, 4}).Draw(t, "threads")
	s.coresPerCache = rapid.IntRange(1, s.cores).Draw(t, "cores per cache")
	return s.machine(rapid.Bool().Draw(t, "siblings adjacent"))
}

func (s shape) machine(adjacent bool) *machine.Machine {
	m := &machine.Machine{}
	total := s.sockets * s.nodesPerSocket * s.cores
	for core := range total {
		socket := core / (s.nodesPerSocket * s.cores)
		node := core / s.cores
		if s.socketsPerNode > 1 {
			node = socket / s.socketsPerNode
		}
		if !slices.ContainsFunc(m.NUMA, func(n machine.Node) bool { return n.ID == node }) {
			m.NUMA = append(m.NUMA, machine.Node{ID: node, Memory: 1 << 33})
		}
		for thread := range s.threads {
			id := thread*total + core
			if adjacent {
				id = core*s.threads + thread
			}
			m.CPUs = append(m.CPUs, machine.CPU{ID: id, Core: core, Socket: socket, NUMA: node, LLC: core / s.coresPerCache, Online: true})
		}
	}
	return m
}

// disturb makes the machine irregular in some of the ways that hardware, hot
// plugging and virtual machines do.
func disturb(t *rapid.T, m *machine.Machine) {
	if rapid.Bool().Draw(t, "shuffle") {
		for i, id := range rapid.Permutation(ids(m)).Draw(t, "ids") {
			m.CPUs[i].ID = id
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "cross") == 0 {
		cross(t, m)
	}
	if rapid.Bool().Draw(t, "renumber") {
		stretch(m)
	}
	if rapid.Bool().Draw(t, "offline") {
		share := rapid.IntRange(2, 12).Draw(t, "one in")
		for i := range m.CPUs {
			// One CPU must stay.
			if i > 0 && rapid.IntRange(1, share).Draw(t, "off") == 1 {
				m.CPUs[i] = machine.CPU{ID: m.CPUs[i].ID, Core: -1, Socket: -1, NUMA: -1, LLC: -1}
			}
		}
	}
}

func ids(m *machine.Machine) []int {
	var out []int
	for _, c := range m.CPUs {
		out = append(out, c.ID)
	}
	return out
}

// cross puts each core on any of the sockets, nodes and caches.
func cross(t *rapid.T, m *machine.Machine) {
	moved := map[int]machine.CPU{}
	for i, c := range m.CPUs {
		to, ok := moved[c.Core]
		if !ok {
			pick := func(label string) machine.CPU { return rapid.SampledFrom(m.CPUs).Draw(t, label) }
			to = machine.CPU{Socket: pick("socket").Socket, NUMA: pick("node").NUMA, LLC: pick("cache").LLC}
			moved[c.Core] = to
		}
		m.CPUs[i].Socket, m.CPUs[i].NUMA, m.CPUs[i].LLC = to.Socket, to.NUMA, to.LLC
	}
}

// stretch leaves gaps in the numbers of nodes and sockets.
func stretch(m *machine.Machine) {
	const by = 3
	for i := range m.NUMA {
		m.NUMA[i].ID *= by
	}
	for i := range m.CPUs {
		m.CPUs[i].NUMA *= by
		m.CPUs[i].Socket *= by
	}
}
