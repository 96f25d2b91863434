package gen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/utils/cpuset"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/internal/machine"
)

// Paths of a node's files.
const (
	cpuDir  = "sys/devices/system/cpu/"
	nodeDir = "sys/devices/system/node/"
)

// Files are a node's files by their path; a text that starts with "-> " is a
// link.
type Files map[string]string

// Sysfs generates the files of a machine as a kernel shows them: CPUs offline
// or without topology, gaps in the numbers, nodes without CPUs or memory, caches
// of some cores, and files that are missing or say nothing.
func Sysfs() *rapid.Generator[Files] {
	return rapid.Custom(func(t *rapid.T) Files {
		m := FewNodes().Draw(t, "machine")
		stretch := rapid.SampledFrom([]int{1, 1, 1, 3}).Draw(t, "node numbers")
		for i := range m.NUMA {
			m.NUMA[i].ID *= stretch
		}
		for i := range m.CPUs {
			m.CPUs[i].NUMA *= stretch
		}
		f := Files{}
		f.cpus(t, m)
		f.nodes(t, m)
		f.proc(t, m)
		for range rapid.SampledFrom([]int{0, 0, 1, 2, 4}).Draw(t, "faults") {
			f.damage(t)
		}
		f.lists()
		return f
	})
}

func (f Files) cpus(t *rapid.T, m *machine.Machine) {
	firstLevel := rapid.IntRange(0, 3).Draw(t, "first cache level")
	several := rapid.IntRange(0, 5).Draw(t, "several caches above level 2") == 0
	hotplug := rapid.IntRange(0, 9).Draw(t, "hotplug") > 0
	if hotplug {
		f[cpuDir+"online"] = m.Online().String() + "\n"
	}
	f[cpuDir+"present"] = fmt.Sprintf("0-%d\n", len(m.CPUs)-1)
	for _, c := range m.CPUs {
		dir := fmt.Sprintf("%scpu%d/", cpuDir, c.ID)
		f[dir+"uevent"] = "\n"
		if !c.Online {
			f[dir+"online"] = "0\n"
			if rapid.Bool().Draw(t, "topology of offline CPUs") {
				continue
			}
			c = m.CPUs[m.Online().List()[0]]
		}
		f[dir+"topology/core_id"] = fmt.Sprintf("%d\n", c.Core)
		f[dir+"topology/physical_package_id"] = fmt.Sprintf("%d\n", c.Socket)
		f[dir+"topology/die_id"] = "0\n"
		for level := firstLevel; level <= 3; level++ {
			f.cache(dir, level, level, c, m)
		}
		if several && firstLevel <= 3 {
			f.cache(dir, 4, 3, c, m)
		}
	}
}

// cache is one of the CPU: up to level 2 its core's, above that of all CPUs with
// the same last level.
func (f Files) cache(dir string, index, level int, c machine.CPU, m *machine.Machine) {
	var ids []int
	for _, other := range m.CPUs {
		core := other.Socket == c.Socket && other.NUMA == c.NUMA && other.Core == c.Core
		if other.Online && (core || level > 2 && other.LLC == c.LLC) {
			ids = append(ids, other.ID)
		}
	}
	id := c.LLC
	if level < 3 {
		id = c.ID
	}
	dir = fmt.Sprintf("%scache/index%d/", dir, index)
	f[dir+"id"] = fmt.Sprintf("%d\n", id+index-level)
	f[dir+"level"] = fmt.Sprintf("%d\n", max(level, 1))
	f[dir+"type"] = []string{"Instruction\n", "Data\n", "Unified\n", "Unified\n"}[level]
	f[dir+"size"] = "512K\n"
	f[dir+"shared_cpu_map"] = mask(ids) + "\n"
	f[dir+"shared_cpu_list"] = cpuset.New(ids...).String() + "\n"
}

// mask is a list of CPUs as the kernel writes it in hexadecimal words.
func mask(ids []int) string {
	words := make([]uint32, slices.Max(append(ids, 0))/32+1)
	for _, id := range ids {
		words[id/32] |= 1 << (id % 32)
	}
	slices.Reverse(words)
	var texts []string
	for _, w := range words {
		texts = append(texts, fmt.Sprintf("%08x", w))
	}
	return strings.Join(texts, ",")
}

func (f Files) nodes(t *rapid.T, m *machine.Machine) {
	if rapid.IntRange(0, 9).Draw(t, "no NUMA") == 0 {
		return
	}
	linked := rapid.Bool().Draw(t, "links to offline CPUs")
	for _, n := range m.NUMA {
		dir := fmt.Sprintf("%snode%d/", nodeDir, n.ID)
		f[dir+"uevent"] = "\n"
		f[dir+"meminfo"] = fmt.Sprintf("Node %d MemTotal:       %d kB\nNode %d MemFree:        1 kB\n", n.ID, n.Memory>>10, n.ID)
		var distances []string
		for _, d := range n.Distances {
			distances = append(distances, fmt.Sprint(d))
		}
		f[dir+"distance"] = strings.Join(distances, " ") + "\n"
		f.hugePages(dir+"hugepages/", n.HugePages)
		for _, c := range m.CPUs {
			if c.Online && c.NUMA == n.ID || !c.Online && linked && n.ID == m.NUMA[0].ID {
				f[fmt.Sprintf("%scpu%d", dir, c.ID)] = fmt.Sprintf("-> ../../cpu/cpu%d", c.ID)
			}
		}
	}
}

func (f Files) hugePages(dir string, counts map[string]int64) {
	for size, n := range counts {
		kib := map[string]string{"2Mi": "2048", "1Gi": "1048576"}[size]
		f[dir+"hugepages-"+kib+"kB/nr_hugepages"] = fmt.Sprintf("%d\n", n)
	}
}

func (f Files) proc(t *rapid.T, m *machine.Machine) {
	f["proc/meminfo"] = fmt.Sprintf("MemTotal:       %d kB\nMemFree:        1 kB\nSwapTotal:      %d kB\n", m.Memory>>10, rapid.SampledFrom([]int{0, 1 << 20}).Draw(t, "swap"))
	f.hugePages("sys/kernel/mm/hugepages/", m.HugePageCounts())
	var b strings.Builder
	ids := rapid.Bool().Draw(t, "ids in cpuinfo")
	for _, c := range m.CPUs {
		if !c.Online {
			continue
		}
		fmt.Fprintf(&b, "processor\t: %d\n", c.ID)
		if ids {
			fmt.Fprintf(&b, "physical id\t: %d\ncore id\t\t: %d\n", c.Socket, c.Core)
		}
		b.WriteString("\n")
	}
	f["proc/cpuinfo"] = b.String()
}

// damage takes a file away, empties it or lets it say something else.
func (f Files) damage(t *rapid.T) {
	var paths []string
	for _, path := range slices.Sorted(maps.Keys(f)) {
		for _, name := range []string{"core_id", "physical_package_id", "die_id", "/id", "level", "type", "size", "shared_cpu_map", "meminfo", "distance"} {
			if strings.HasPrefix(path, "sys/") && strings.HasSuffix(path, name) {
				paths = append(paths, path)
			}
		}
		if strings.HasPrefix(f[path], "-> ") {
			paths = append(paths, path)
		}
	}
	path := rapid.SampledFrom(paths).Draw(t, "path")
	name := path[strings.LastIndex(path, "/")+1:]
	switch rapid.IntRange(0, 4).Draw(t, "fault") {
	case 0:
		delete(f, path)
	case 1: // a whole kind of file, as a kernel without it
		maps.DeleteFunc(f, func(p, _ string) bool {
			return strings.HasPrefix(p, "sys/") && strings.HasSuffix(p, "/"+name) && !strings.HasPrefix(name, "cpu")
		})
	case 2:
		if i := strings.Index(path, "/cache/"); i >= 0 {
			maps.DeleteFunc(f, func(p, _ string) bool { return strings.HasPrefix(p, path[:i+len("/cache/")]) })
		}
	case 3:
		if text, ok := map[string]string{
			"core_id": "-1\n", "die_id": "-1\n", "id": "7\n", "level": "4\n", "shared_cpu_map": "1\n", "meminfo": "Node 0 MemTotal: 4096 kB\n",
		}[name]; ok {
			f[path] = text
		}
	case 4:
		if name == "core_id" || name == "physical_package_id" || name == "meminfo" || name == "distance" {
			f[path] = rapid.SampledFrom([]string{"", "x\n", "1 x\n"}).Draw(t, "text")
		}
	}
}

// lists are those of CPUs that nodes have, which follow the links.
func (f Files) lists() {
	for path := range f {
		node, ok := strings.CutSuffix(path, "/uevent")
		if !ok || !strings.HasPrefix(path, nodeDir) {
			continue
		}
		ids := []int{}
		for link := range f {
			var id int
			if name, ok := strings.CutPrefix(link, node+"/cpu"); ok {
				if _, err := fmt.Sscan(name, &id); err == nil {
					ids = append(ids, id)
				}
			}
		}
		f[node+"/cpulist"] = cpuset.New(ids...).String() + "\n"
		f[node+"/cpumap"] = mask(ids) + "\n"
	}
}
