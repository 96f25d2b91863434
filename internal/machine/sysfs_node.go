package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// readNode reads a NUMA node. As for cAdvisor, missing files mean no memory and
// no distances; files that say something else are errors.
func (t tree) readNode(n numberedName) (Node, error) {
	node := Node{ID: n.id}
	meminfo, err := t.text(nodeDir, n.name, "meminfo")
	if err == nil {
		total, ok := kilobytes(meminfo, "MemTotal")
		if !ok {
			return node, fmt.Errorf("reading memory of NUMA node %d: no MemTotal in %s", n.id, path.Join(nodeDir, n.name, "meminfo"))
		}
		node.Memory = total
	}
	if node.HugePages, err = t.hugePages(path.Join(nodeDir, n.name, "hugepages")); err != nil {
		return node, fmt.Errorf("reading huge pages of NUMA node %d: %w", n.id, err)
	}
	distance, err := t.text(nodeDir, n.name, "distance")
	if err != nil {
		return node, nil //nolint:nilerr // cAdvisor too goes on without distances
	}
	for word := range strings.SplitSeq(distance, " ") { // an empty file fails, too
		d, err := strconv.ParseUint(word, 10, 31)
		if err != nil {
			node.Distances = nil
			return node, fmt.Errorf("reading distances of NUMA node %d: %q is not a number", n.id, word)
		}
		node.Distances = append(node.Distances, int(d))
	}
	return node, nil
}

// hugePages reads the numbers of preallocated pages of each size in a folder;
// a missing folder means a kernel without huge pages.
func (t tree) hugePages(dir string) (map[string]int64, error) {
	var pages map[string]int64
	for _, name := range t.names(dir) {
		middle, ok := strings.CutPrefix(name, "hugepages-")
		kib, ok2 := strings.CutSuffix(middle, "kB")
		size, err := strconv.ParseInt(kib, 10, 64)
		if !ok || !ok2 || err != nil || size <= 0 || size > 1<<40 {
			continue
		}
		count, err := t.number(dir, name, "nr_hugepages")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if pages == nil {
			pages = map[string]int64{}
		}
		pages[pageSize(size)] = int64(count)
	}
	return pages, nil
}

// pageSize writes a page size in KiB as the kubelet's resource names do: 2Mi.
func pageSize(kib int64) string {
	return resource.NewQuantity(kib<<10, resource.BinarySI).String()
}

// dropShortDistances leaves distances out that are not one to a node, as copies
// of /sys with nodes of several kernels have them. More than that is kept: a
// kernel tells distances to offline nodes, too.
func (m *Machine) dropShortDistances() {
	for i, n := range m.NUMA {
		if n.Distances != nil && len(n.Distances) < len(m.NUMA) {
			m.NUMA[i].Distances = nil
			m.assume("distances of NUMA node %d are left out: %d for %d nodes", n.ID, len(n.Distances), len(m.NUMA))
		}
	}
}

// addMemory adds what the machine has as a whole.
func (t tree) addMemory(m *Machine) error {
	if meminfo, err := t.procText("meminfo"); err == nil {
		if total, ok := kilobytes(meminfo, "MemTotal"); ok {
			m.Memory = total
		}
		if swap, ok := kilobytes(meminfo, "SwapTotal"); ok {
			m.Swap = &swap
		}
	}
	if len(m.NUMA) == 0 {
		m.NUMA = []Node{{Memory: m.Memory}}
	}
	if m.Memory == 0 {
		m.sumMemory("proc/meminfo")
	}
	pages, err := t.hugePages("kernel/mm/hugepages")
	if err != nil {
		return fmt.Errorf("reading huge pages: %w", err)
	}
	if !maps.Equal(pages, m.HugePageCounts()) && pages != nil {
		m.HugePages = pages
	}
	return nil
}

// sumMemory takes the sum over the nodes for the whole where the source does
// not tell MemTotal.
func (m *Machine) sumMemory(missing string) {
	var sum int64
	for _, n := range m.NUMA {
		sum += n.Memory
	}
	if sum > 0 {
		m.Memory = sum
		m.assume("memory: the sum over the NUMA nodes, as %s does not tell MemTotal", missing)
	}
}
