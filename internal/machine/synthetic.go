package machine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kqos/kqos/internal/quantity"
)

// SyntheticPrefix begins a source that describes a machine in words.
const SyntheticPrefix = "synthetic:"

// gib is the memory per core of a machine that gives none.
const gib = int64(1) << 30

// slit are the distances of a made-up machine: of a node to itself, to another
// of the same socket, and to another socket.
type slit struct{ local, socket, remote int }

// usualDistances are those that firmware commonly reports.
func usualDistances() slit { return slit{10, 11, 21} }

// The ways to number CPUs: second threads after all cores; the threads of a
// core one after the other; and cores in turn from each socket, second threads
// after all cores.
const (
	numberingLinux       = "linux"
	numberingCompact     = "compact"
	numberingInterleaved = "interleaved"
)

// ParseSynthetic makes the machine that the text after "synthetic:" describes:
// totals by key (sockets, numa, llc, cores, threads, memory, swap, memtotal,
// hugepages-SIZE, distances=LOCAL/SOCKET/REMOTE or none, numbering), or hwloc's synthetic
// form such as "pack:2 numa:2 core:8 pu:2". Memory and huge pages may also be
// given node by node: "memory=64Gi+32Gi".
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
	// memory and hugePages are one total, or an amount for each node.
	memory    []int64
	hugePages map[string][]int64
	memTotal  int64
	swap      *int64
	distances slit
	numbering string
}

func parseTotals(text string) (*Machine, error) {
	t := totals{sockets: 1, numa: 1, llc: 1, cores: 1, threads: 1, distances: usualDistances()}
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
		t.memory, err = parseAmounts(value)
	case key == "memtotal":
		t.memTotal, err = parseBytes(value)
	case key == "swap":
		var swap int64
		swap, err = parseBytes(value)
		t.swap = &swap
	case huge:
		if t.hugePages == nil {
			t.hugePages = map[string][]int64{}
		}
		t.hugePages[size], err = parseAmounts(value)
	case key == "distances" && value == "none":
		t.distances = slit{}
	case key == "distances":
		d := &t.distances
		if n, scanErr := fmt.Sscanf(value, "%d/%d/%d", &d.local, &d.socket, &d.remote); n != 3 || scanErr != nil || min(d.local, d.socket, d.remote) < 1 {
			err = errors.New("give three numbers: of a node to itself, to another of its socket, to another socket, such as 10/11/21, or none")
		}
	case key == "numbering" && slices.Contains([]string{numberingLinux, numberingCompact, numberingInterleaved}, value):
		t.numbering = value
	case key == "numbering":
		err = errors.New("numbering is linux (second threads come after all cores), compact (threads side by side) or interleaved (as linux, cores in turn from each socket)")
	default:
		err = errors.New("unknown key: there are sockets, numa, llc, cores, threads, memory, memtotal, swap, hugepages-SIZE, distances and numbering")
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
	q, err := quantity.Parse(text)
	if err != nil || q.Sign() < 0 || q.CmpInt64(math.MaxInt64/2) > 0 {
		return 0, errors.New("not an amount such as 512Gi")
	}
	return q.Value(), nil
}

// parseAmounts reads one total, or amounts of each node joined by "+".
func parseAmounts(text string) ([]int64, error) {
	var amounts []int64
	for word := range strings.SplitSeq(text, "+") {
		n, err := parseBytes(word)
		if err != nil {
			return nil, err
		}
		amounts = append(amounts, n)
	}
	return amounts, nil
}

// of is the part of node i: its own amount, or its share of the total.
func (t *totals) of(amounts []int64, i int) int64 {
	if len(amounts) == t.numa {
		return amounts[i]
	}
	return share(amounts[0], t.numa, i)
}

// check refuses totals that no even machine has.
func (t *totals) check() error {
	for _, amounts := range append(slices.Collect(maps.Values(t.hugePages)), t.memory) {
		if len(amounts) > 1 && len(amounts) != t.numa {
			return fmt.Errorf("%d amounts joined by + for %d NUMA nodes: give one to a node, or a total", len(amounts), t.numa)
		}
	}
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
	if len(t.memory) == 0 {
		t.memory = []int64{int64(t.cores) * gib}
	}
	m := &Machine{Swap: t.swap}
	inSocket := t.cores / t.sockets
	for core := range t.cores {
		socket, within := core/inSocket, core%inSocket
		for thread := range t.threads {
			id := thread*t.cores + core
			switch t.numbering {
			case numberingCompact:
				id = core*t.threads + thread
			case numberingInterleaved:
				id = thread*t.cores + within*t.sockets + socket
			}
			m.CPUs = append(m.CPUs, CPU{
				ID: id, Online: true, Core: within, Socket: socket,
				NUMA: core / (t.cores / t.numa),
				LLC:  core / (t.cores / t.llc),
			})
		}
	}
	for id := range t.numa {
		n := Node{ID: id, Memory: t.of(t.memory, id)}
		for size, pages := range t.hugePages {
			if n.HugePages == nil {
				n.HugePages = map[string]int64{}
			}
			n.HugePages[size] = t.of(pages, id)
		}
		m.NUMA = append(m.NUMA, n)
	}
	m.Memory = cmp.Or(t.memTotal, m.nodeMemory())
	m.addDistances(t.distances)
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

// socketOfNode is the socket of each node's CPUs.
func (m *Machine) socketOfNode() map[int]int {
	socket := map[int]int{}
	for _, c := range m.CPUs {
		socket[c.NUMA] = c.Socket
	}
	return socket
}

// addDistances gives the nodes the distances that their sockets suggest; none
// for the zero value.
func (m *Machine) addDistances(d slit) {
	if d == (slit{}) {
		return
	}
	socket := m.socketOfNode()
	for i := range m.NUMA {
		from := m.NUMA[i].ID
		distances := make([]int, len(m.NUMA))
		for j, to := range m.NUMA {
			switch {
			case to.ID == from:
				distances[j] = d.local
			case socket[to.ID] == socket[from]:
				distances[j] = d.socket
			default:
				distances[j] = d.remote
			}
		}
		m.NUMA[i].Distances = distances
	}
}
