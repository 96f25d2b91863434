package machine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Synthetic is the description, with its prefix, from which ParseSynthetic
// makes this machine again: the same CPUs with the same numbers, grouped
// alike, and the same memory, huge pages and distances. The numbers of cores and
// caches may differ. The error says what no description can express. PCI
// devices are left out.
func (m *Machine) Synthetic() (string, error) {
	if why := m.irregular(); why != "" {
		return "", fmt.Errorf("no synthetic description makes this machine: %s", why)
	}
	var first error
	for _, text := range append(m.totalsTexts(), m.hwlocText()) {
		again, err := ParseSynthetic(text)
		if err != nil {
			continue
		}
		if err = m.sameAs(again); err == nil {
			return SyntheticPrefix + text, nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = errors.New("its parts are not spread evenly")
	}
	return "", fmt.Errorf("no synthetic description makes this machine: %w", first)
}

// irregular names what a description has no word for.
func (m *Machine) irregular() string {
	threads := map[int]bool{}
	for _, core := range m.Cores() {
		threads[len(core)] = true
	}
	for _, c := range m.CPUs {
		switch {
		case c.Hidden != "":
			return fmt.Sprintf("the kubelet does not see CPU %d", c.ID)
		case !c.Online:
			return fmt.Sprintf("CPU %d is offline", c.ID)
		case c.Type != "":
			return "its cores are of two kinds"
		}
	}
	if len(threads) > 1 {
		return "its cores have different numbers of threads"
	}
	for i, n := range m.NUMA {
		switch {
		case n.CPUs == "":
			return fmt.Sprintf("NUMA node %d has no CPUs", n.ID)
		case n.ID != i:
			return fmt.Sprintf("there is no NUMA node %d", i)
		}
	}
	if len(m.Devices) > 0 {
		return fmt.Sprintf("it has devices, such as %s", m.Devices[0].Resource)
	}
	if m.HugePages != nil {
		return "not all of its huge pages stand on a NUMA node"
	}
	return ""
}

// count is the number of different keys of the CPUs.
func (m *Machine) count(key func(CPU) int) int {
	keys := map[int]bool{}
	for _, c := range m.CPUs {
		keys[key(c)] = true
	}
	return len(keys)
}

// totalsTexts are descriptions by totals, one for each numbering.
func (m *Machine) totalsTexts() []string {
	cores := len(m.Cores())
	keys := []string{
		fmt.Sprintf("sockets=%d", m.count(func(c CPU) int { return c.Socket })),
		fmt.Sprintf("numa=%d", len(m.NUMA)),
		fmt.Sprintf("llc=%d", m.count(func(c CPU) int { return c.LLC })),
		fmt.Sprintf("cores=%d", cores),
		fmt.Sprintf("threads=%d", len(m.CPUs)/max(cores, 1)),
		"memory=" + perNode(m.NUMA, func(n Node) int64 { return n.Memory }),
	}
	if sum := m.nodeMemory(); sum != m.Memory && m.Memory > 0 {
		keys = append(keys, fmt.Sprintf("memtotal=%d", m.Memory))
	}
	if m.Swap != nil {
		keys = append(keys, fmt.Sprintf("swap=%d", *m.Swap))
	}
	for _, size := range slices.Sorted(maps.Keys(m.HugePageCounts())) {
		keys = append(keys, "hugepages-"+size+"="+perNode(m.NUMA, func(n Node) int64 { return n.HugePages[size] }))
	}
	if d := m.distanceWord(); d != "" {
		keys = append(keys, "distances="+d)
	}
	text := strings.Join(keys, ",")
	texts := []string{text}
	for _, n := range []string{numberingCompact, numberingInterleaved} {
		texts = append(texts, text+",numbering="+n)
	}
	return texts
}

func (m *Machine) nodeMemory() int64 {
	var sum int64
	for _, n := range m.NUMA {
		sum += n.Memory
	}
	return sum
}

// perNode is the total where the nodes are alike, else the amounts of each.
func perNode(nodes []Node, amount func(Node) int64) string {
	words := make([]string, len(nodes))
	var sum int64
	even := true
	for i, n := range nodes {
		words[i] = strconv.FormatInt(amount(n), 10)
		sum += amount(n)
		even = even && amount(n) == amount(nodes[0])
	}
	if even {
		return strconv.FormatInt(sum, 10)
	}
	return strings.Join(words, "+")
}

// distanceWord is the distances as the description gives them, where they are
// not those that it takes by itself.
func (m *Machine) distanceWord() string {
	own := &Machine{CPUs: m.CPUs, NUMA: slices.Clone(m.NUMA)}
	own.addDistances(usualDistances())
	if slices.EqualFunc(own.NUMA, m.NUMA, func(a, b Node) bool { return slices.Equal(a.Distances, b.Distances) }) {
		return ""
	}
	if !slices.ContainsFunc(m.NUMA, func(n Node) bool { return n.Distances != nil }) {
		return "none"
	}
	// Of each kind, the last that occurs: comparing tells whether all are alike.
	found := usualDistances()
	socket := m.socketOfNode()
	for i, from := range m.NUMA {
		for j, to := range m.NUMA {
			if j >= len(from.Distances) {
				return ""
			}
			switch {
			case i == j:
				found.local = from.Distances[j]
			case socket[from.ID] == socket[to.ID]:
				found.socket = from.Distances[j]
			default:
				found.remote = from.Distances[j]
			}
		}
	}
	return fmt.Sprintf("%d/%d/%d", found.local, found.socket, found.remote)
}

// hwlocText describes the machine in hwloc's form, every CPU's number written
// out: for numberings that have no name.
func (m *Machine) hwlocText() string {
	layout := m.Layout()
	var words []string
	for level := []*Box{layout}; len(level) > 0 && level[0].Kind != BoxCore; {
		next := level[0].Inner
		kind := map[BoxKind]string{BoxPackage: "pack", BoxNUMA: "numa", BoxDie: "die", BoxCache: "l3", BoxCore: "core"}[next[0].Kind]
		word := fmt.Sprintf("%s:%d", kind, len(next))
		var all []*Box
		var ids []string
		for _, b := range level {
			all = append(all, b.Inner...)
		}
		for _, b := range all {
			ids = append(ids, strconv.Itoa(b.ID))
		}
		switch kind {
		case "numa":
			word += fmt.Sprintf("(memory=%d indexes=%s)", all[0].Node.Memory, strings.Join(ids, ","))
		case "pack":
			word += fmt.Sprintf("(indexes=%s)", strings.Join(ids, ","))
		}
		words = append(words, word)
		level = all
	}
	var pus []string
	var walk func(*Box)
	walk = func(b *Box) {
		if b.Kind == BoxCore {
			for _, c := range b.CPUs {
				pus = append(pus, strconv.Itoa(c.ID))
			}
		}
		for _, inner := range b.Inner {
			walk(inner)
		}
	}
	walk(layout)
	threads := len(m.CPUs) / max(len(m.Cores()), 1)
	return strings.Join(append(words, fmt.Sprintf("pu:%d(indexes=%s)", threads, strings.Join(pus, ","))), " ")
}
