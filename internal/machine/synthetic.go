package machine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// SyntheticPrefix begins a source that describes a machine in words.
const SyntheticPrefix = "synthetic:"

// gib is the memory per core of a machine that gives none.
const gib = int64(1) << 30

// Distances of a made-up machine's nodes, as firmware commonly reports them:
// the node itself, another node of the same socket, another socket.
const (
	localDistance  = 10
	socketDistance = 11
	remoteDistance = 21
)

// ParseSynthetic makes the machine that the text after "synthetic:" describes:
// totals by key (sockets, numa, llc, cores, threads, memory, numbering,
// hugepages-SIZE), or hwloc's synthetic form such as "pack:2 numa:2 core:8 pu:2".
func ParseSynthetic(text string) (*Machine, error) {
	text = strings.TrimPrefix(text, SyntheticPrefix)
	var m *Machine
	var err error
	if strings.Contains(text, "=") && !strings.Contains(text, ":") {
		m, err = parseTotals(text)
	} else {
		m, err = parseHwlocSynthetic(text)
	}
	if err == nil {
		m.Source = SyntheticPrefix + text
		err = m.finish()
	}
	if err != nil {
		return nil, fmt.Errorf("reading machine %s%s: %w", SyntheticPrefix, text, err)
	}
	return m, nil
}

// totals are the numbers of a regular machine, each for the whole of it.
type totals struct {
	sockets, numa, llc, cores, threads int
	memory                             int64
	compact                            bool
	hugePages                          map[string]int64
}

func parseTotals(text string) (*Machine, error) {
	t := totals{sockets: 1, numa: 1, llc: 1, cores: 1, threads: 1}
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || seen[key] {
			return nil, fmt.Errorf("%q: give each key once, as key=value", pair)
		}
		seen[key] = true
		if err := t.set(key, value); err != nil {
			return nil, fmt.Errorf("%s=%s: %w", key, value, err)
		}
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	m := t.machine()
	if !seen["memory"] {
		m.assume("memory: 1Gi a core, as none is given")
	}
	if !seen["llc"] && t.sockets > 1 {
		m.assume("one last level cache over all sockets, as none is given: say llc=%d for one a socket", t.sockets)
	}
	return m, nil
}

func (t *totals) set(key, value string) (err error) {
	size, huge := strings.CutPrefix(key, "hugepages-")
	switch {
	case key == "sockets":
		t.sockets, err = parseCount(value)
	case key == "numa":
		t.numa, err = parseCount(value)
	case key == "llc":
		t.llc, err = parseCount(value)
	case key == "cores":
		t.cores, err = parseCount(value)
	case key == "threads":
		t.threads, err = parseCount(value)
	case key == "memory":
		t.memory, err = parseBytes(value)
	case huge:
		var pages int64
		if pages, err = strconv.ParseInt(value, 10, 64); err != nil || pages < 0 {
			return fmt.Errorf("not a number of pages")
		}
		if t.hugePages == nil {
			t.hugePages = map[string]int64{}
		}
		t.hugePages[size] = pages
	case key == "numbering" && (value == "linux" || value == "compact"):
		t.compact = value == "compact"
	case key == "numbering":
		err = fmt.Errorf("numbering is linux (second threads come after all cores) or compact")
	default:
		err = fmt.Errorf("unknown key: there are sockets, numa, llc, cores, threads, memory, numbering and hugepages-SIZE")
	}
	return err
}

func parseCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxID {
		return 0, fmt.Errorf("not a number between 1 and %d", maxID)
	}
	return n, nil
}

func parseBytes(text string) (int64, error) {
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Sign() < 0 || q.CmpInt64(math.MaxInt64/2) > 0 {
		return 0, fmt.Errorf("not an amount of memory such as 512Gi")
	}
	return q.Value(), nil
}

// check refuses totals that no even machine has.
func (t *totals) check() error {
	if int64(t.cores)*int64(t.threads) > maxID {
		return fmt.Errorf("%d cores of %d threads: more than %d CPUs", t.cores, t.threads, maxID)
	}
	parts := []struct {
		name  string
		count int
	}{{"sockets", t.sockets}, {"numa", t.numa}, {"llc", t.llc}}
	for i, p := range parts {
		if t.cores%p.count != 0 {
			return fmt.Errorf("cores=%d cannot be spread evenly over %s=%d; all numbers are totals for the machine", t.cores, p.name, p.count)
		}
		for _, q := range parts[:i] {
			if p.count%q.count != 0 && q.count%p.count != 0 {
				return fmt.Errorf("%s=%d and %s=%d: one must be a multiple of the other; all numbers are totals for the machine", q.name, q.count, p.name, p.count)
			}
		}
	}
	return nil
}

func (t *totals) machine() *Machine {
	m := &Machine{Memory: cmp.Or(t.memory, int64(t.cores)*gib)}
	for core := range t.cores {
		for thread := range t.threads {
			id := thread*t.cores + core
			if t.compact {
				id = core*t.threads + thread
			}
			m.CPUs = append(m.CPUs, CPU{
				ID: id, Online: true,
				Core:   core % (t.cores / t.sockets),
				Socket: core / (t.cores / t.sockets),
				NUMA:   core / (t.cores / t.numa),
				LLC:    core / (t.cores / t.llc),
			})
		}
	}
	for id := range t.numa {
		n := Node{ID: id, Memory: share(m.Memory, t.numa, id)}
		for size, pages := range t.hugePages {
			if n.HugePages == nil {
				n.HugePages = map[string]int64{}
			}
			n.HugePages[size] = share(pages, t.numa, id)
		}
		m.NUMA = append(m.NUMA, n)
	}
	m.addDistances()
	return m
}

// share is the part of a total that the i-th of n nodes gets; what does not
// divide goes to the first ones.
func share(total int64, n, i int) int64 {
	part := total / int64(n)
	if int64(i) < total%int64(n) {
		part++
	}
	return part
}

// addDistances gives the nodes the distances that their sockets suggest.
func (m *Machine) addDistances() {
	socket := map[int]int{}
	for _, c := range m.CPUs {
		socket[c.NUMA] = c.Socket
	}
	for i := range m.NUMA {
		from := m.NUMA[i].ID
		m.NUMA[i].Distances = slices.Collect(func(yield func(int) bool) {
			for _, n := range m.NUMA {
				d := remoteDistance
				switch {
				case n.ID == from:
					d = localDistance
				case socket[n.ID] == socket[from]:
					d = socketDistance
				}
				if !yield(d) {
					return
				}
			}
		})
	}
}
