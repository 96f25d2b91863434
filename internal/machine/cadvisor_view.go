package machine

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// kubeletView adds the NUMA nodes to the machine and returns the CPUs as
// cAdvisor finds them below the nodes. It fails where cAdvisor does: at the first
// file that does not hold what it should; the kubelet then knows no CPU at all.
// The nodes are added all the same.
// cAdvisor lib v0.60: utils/sysinfo/sysinfo.go GetNodesInfo
func (t tree) kubeletView(m *Machine, hardware map[int]*hardwareCPU) (map[int]seenCPU, error) {
	seen, threads := map[int]seenCPU{}, 0
	nodes := t.numbered("node", nodeDir)
	var failed error
	for _, n := range nodes {
		node, err := t.readNode(n)
		m.NUMA = append(m.NUMA, node)
		count, seeErr := t.seeCPUs(m, n, hardware, seen)
		if failed == nil {
			failed = cmp.Or(err, seeErr)
		}
		threads += count
	}
	switch {
	case failed != nil:
		return nil, failed
	case len(nodes) == 0:
		return t.withoutNodes(m, hardware)
	case len(seen) == 0:
		m.assume("the kubelet finds no CPU below the NUMA nodes in /sys, and would not start its CPU manager")
	case threads != len(seen):
		m.counts().CPUs = threads
	}
	return seen, nil
}

// nodeCPUs are the CPUs that stand below a node's folder in /sys.
func (t tree) nodeCPUs(node string) []numberedName { return t.numbered("cpu", nodeDir, node) }

// seeCPUs finds the CPUs of one node. cAdvisor passes over offline CPUs and
// those without core or package, and fails on numbers that it cannot read. The
// count is of threads, a CPU in several nodes counting in each.
func (t tree) seeCPUs(m *Machine, node numberedName, hardware map[int]*hardwareCPU, seen map[int]seenCPU) (count int, err error) {
	var cores []*seenCore
	listed := t.has(cpuDir, "online")
	for _, c := range t.cpusOf(m, node) {
		h := hardware[c.id]
		// Without the list of online CPUs cAdvisor takes all for online.
		if h == nil || !h.online && listed {
			continue
		}
		core, ok, err := t.given(c.path, "core_id")
		if err != nil {
			return 0, err
		} else if !ok {
			continue
		}
		socket, ok, err := t.given(c.path, "physical_package_id")
		if err != nil {
			return 0, err
		} else if !ok {
			continue
		}
		// kubelet v1.37: cm/cpumanager/topology/topology.go Discover
		if _, ok := seen[c.id]; ok {
			m.assume("some CPUs stand in several NUMA nodes; as for the kubelet, the last counts")
		}
		seen[c.id] = seenCPU{numa: node.id, socket: socket, core: core, uncore: NoUncore}
		i := slices.IndexFunc(cores, func(s *seenCore) bool { return s.core == core && s.socket == socket })
		if i < 0 {
			i = len(cores)
			cores = append(cores, &seenCore{core: core, socket: socket})
		}
		cores[i].threads = append(cores[i].threads, c.id)
		count++
	}
	seeUncore(cores, hardware, seen)
	return count, nil
}

// given reads a number of the CPU's topology; ok is false where it has no such
// file.
func (t tree) given(dir, file string) (n int, ok bool, err error) {
	if n, err = t.number(dir, "topology", file); errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	return n, err == nil, err
}

// seenCore is a core with its threads in the order in which cAdvisor met them.
type seenCore struct {
	core, socket int
	threads      []int
}

// seeUncore applies cAdvisor's rule for uncore caches to the cores of a node:
// the first thread is asked, a cache above level 2 belongs to the core when not
// exactly the node's cores times the core's threads share it, and of several
// the kubelet takes the first. Caches that cannot be read end it for all cores
// that follow.
// cAdvisor lib v0.60: utils/sysinfo/sysinfo.go addCacheInfo
func seeUncore(cores []*seenCore, hardware map[int]*hardwareCPU, seen map[int]seenCPU) {
	for _, core := range cores {
		uncore, asked := NoUncore, hardware[core.threads[0]]
		if asked.noCaches {
			return
		}
		for _, c := range asked.caches {
			if c.refused {
				return
			}
			if c.level > 2 && len(c.cpus) != len(cores)*len(core.threads) && uncore == NoUncore {
				uncore = c.id
			}
		}
		for _, id := range core.threads {
			s := seen[id]
			s.uncore = uncore
			seen[id] = s
		}
	}
}

// cpuPath is a CPU and where its files stand in /sys.
type cpuPath struct {
	id   int
	path string
}

// cpusOf are the CPUs below a node. A copy of /sys may lack the links that every
// live one has; then the node's own list stands in.
func (t tree) cpusOf(m *Machine, node numberedName) []cpuPath {
	var cpus []cpuPath
	for _, c := range t.nodeCPUs(node.name) {
		cpus = append(cpus, cpuPath{c.id, path.Join(nodeDir, node.name, c.name)})
	}
	if len(cpus) > 0 {
		return cpus
	}
	ids, err := t.list(nodeDir, node.name, "cpulist")
	if err != nil || len(ids) == 0 {
		mask, err := t.text(nodeDir, node.name, "cpumap")
		if err != nil {
			return nil
		}
		if ids, err = parseMask(mask); err != nil {
			return nil
		}
	}
	if len(ids) > 0 {
		m.assume("the copy of /sys has no links from NUMA nodes to CPUs; their cpulist or cpumap was used")
	}
	// The order of names, as links would have.
	slices.SortFunc(ids, func(a, b int) int { return strings.Compare(strconv.Itoa(a), strconv.Itoa(b)) })
	for _, id := range ids {
		cpus = append(cpus, cpuPath{id, path.Join(cpuDir, fmt.Sprintf("cpu%d", id))})
	}
	return cpus
}

// withoutNodes is the view on a kernel without NUMA: cAdvisor makes a node
// without memory of each package, and counts offline CPUs too.
// cAdvisor lib v0.60: utils/sysinfo/sysinfo.go getCPUTopology
func (t tree) withoutNodes(m *Machine, hardware map[int]*hardwareCPU) (map[int]seenCPU, error) {
	seen := map[int]seenCPU{}
	cores := map[int][]*seenCore{}
	m.assume("no NUMA nodes in /sys: as cAdvisor does, each socket counts as a node, without memory of its own")
	for _, id := range sortedByName(hardware) {
		h, dir := hardware[id], path.Join(cpuDir, fmt.Sprintf("cpu%d", id))
		core, socket := h.core, h.socket
		// All of /sys may be masked.
		inSys, ok, err := t.has(dir), true, error(nil)
		if inSys {
			socket, ok, err = t.given(dir, "physical_package_id")
		}
		if err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		// The kernel's own -1 for a package that it does not know is no node.
		numa := max(socket, 0)
		if !slices.ContainsFunc(m.NUMA, func(n Node) bool { return n.ID == numa }) {
			m.NUMA = append(m.NUMA, Node{ID: numa})
		}
		if !h.online && t.has(cpuDir, "online") {
			continue
		}
		if inSys {
			core, ok, err = t.given(dir, "core_id")
		}
		if err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		seen[id] = seenCPU{numa: numa, socket: socket, core: core, uncore: NoUncore}
		i := slices.IndexFunc(cores[numa], func(s *seenCore) bool { return s.core == core && s.socket == socket })
		if i < 0 {
			i = len(cores[numa])
			cores[numa] = append(cores[numa], &seenCore{core: core, socket: socket})
		}
		cores[numa][i].threads = append(cores[numa][i].threads, id)
	}
	for _, c := range cores {
		seeUncore(c, hardware, seen)
	}
	if len(hardware) != len(seen) {
		m.counts().CPUs = len(hardware)
	}
	return seen, nil
}

func sortedByName(hardware map[int]*hardwareCPU) []int {
	var ids []int
	for id := range hardware {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b int) int { return strings.Compare(strconv.Itoa(a), strconv.Itoa(b)) })
	return ids
}
