package machine

import (
	"fmt"
	"strconv"
	"strings"
)

// level is one word of hwloc's synthetic form: so many objects of a kind in
// each object of the level before.
type level struct {
	kind    string
	each    int // objects in each object of the level before
	total   int // objects on the machine
	memory  int64
	indexes string
	// attached says that the word stood in brackets: memory beside the level,
	// not a level of its own.
	attached bool
}

// kinds are the words of hwloc's synthetic form with their shortest spelling.
func kindOf(word string) (string, bool) {
	word = strings.ToLower(word)
	for _, k := range []struct{ kind, name, least string }{
		{"machine", "machine", "mach"},
		{"package", "package", "pack"},
		{"package", "socket", "sock"},
		{"die", "die", "die"},
		{"group", "group", "gr"},
		{"numa", "numanode", "nu"},
		{"numa", "node", "no"},
		{"core", "core", "co"},
		{"pu", "pu", "pu"},
	} {
		if strings.HasPrefix(k.name, word) && strings.HasPrefix(word, k.least) {
			return k.kind, true
		}
	}
	if len(word) >= 2 && word[0] == 'l' && word[1] >= '1' && word[1] <= '5' {
		switch word[2:] {
		case "", "u", "d", "cache", "ucache", "dcache":
			return "l" + word[1:2], true
		case "i", "icache":
			return "group", true // instruction caches matter to nothing here
		}
	}
	return "", false
}

func parseHwlocSynthetic(text string) (*Machine, error) {
	var levels []level
	total := 1
	for _, word := range splitOutside(text) {
		l, err := parseLevel(word)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", word, err)
		}
		if !l.attached {
			if total > maxID/l.each {
				return nil, fmt.Errorf("%q: more than %d objects", word, maxID)
			}
			total *= l.each
		}
		l.total = total
		levels = append(levels, l)
	}
	return buildLevels(levels)
}

// splitOutside splits at spaces that are not in parentheses or brackets.
func splitOutside(text string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		}
		return depth == 0 && (r == ' ' || r == '\t' || r == '\n')
	})
}

func parseLevel(word string) (level, error) {
	l := level{each: 1}
	if inner, ok := strings.CutPrefix(word, "["); ok {
		l.attached = true
		word = strings.TrimSuffix(inner, "]")
	}
	word, attributes, ok := strings.Cut(word, "(")
	if ok {
		for a := range strings.FieldsSeq(strings.TrimSuffix(attributes, ")")) {
			if err := l.attribute(a); err != nil {
				return l, err
			}
		}
	}
	word, count, ok := strings.Cut(word, ":")
	kind, known := kindOf(word)
	if !known {
		return l, fmt.Errorf("unknown word: there are pack, die, numa, l1 to l5, group, core and pu, each with :NUMBER")
	}
	l.kind = kind
	if !ok && !l.attached {
		return l, fmt.Errorf("say how many in each of the level before, such as %s:2", word)
	}
	if ok {
		n, err := parseCount(count)
		if err != nil {
			return l, err
		}
		l.each = n
	}
	if l.attached && l.kind != "numa" {
		return l, fmt.Errorf("only NUMA nodes are attached in brackets")
	}
	return l, nil
}

func (l *level) attribute(text string) error {
	key, value, _ := strings.Cut(text, "=")
	var err error
	switch key {
	case "memory":
		l.memory, err = parseHwlocBytes(value)
	case "size": // of a cache: a synthetic Machine says who shares it, not how large it is
		_, err = parseHwlocBytes(value)
	case "indexes":
		l.indexes = value
	}
	return err
}

// parseHwlocBytes reads hwloc's amounts: bytes, or kB, MB, GB, TB in powers of
// 1024 and kiB … the same, as hwloc does.
func parseHwlocBytes(text string) (int64, error) {
	digits := strings.TrimRight(text, "kKMGTiB")
	n, err := strconv.ParseInt(digits, 10, 64)
	shift := map[string]int{"": 0, "B": 0, "K": 10, "M": 20, "G": 30, "T": 40}
	unit := strings.ToUpper(text[len(digits):])
	unit = strings.TrimSuffix(strings.TrimSuffix(unit, "B"), "I")
	bits, ok := shift[unit]
	if err != nil || !ok || n < 0 || n > (1<<62)>>bits {
		return 0, fmt.Errorf("%q is not an amount such as 64GB", text)
	}
	return n << bits, nil
}

// buildLevels walks the CPUs in hwloc's logical order.
func buildLevels(levels []level) (*Machine, error) {
	if len(levels) == 0 {
		return nil, fmt.Errorf("nothing described: write sockets=2,cores=16 or pack:2 core:8")
	}
	total := levels[len(levels)-1].total
	ids, err := numbersOf(levels)
	if err != nil {
		return nil, err
	}
	m, last := &Machine{}, lastCache(levels)
	cores := map[int]int{}
	for i := range total {
		at := func(kind string) int { return indexAt(levels, kind, i, total) }
		pu, socket, numa := i, max(at("package"), 0), max(at("numa"), 0)
		if n, ok := ids["pu"]; ok {
			pu = n[i]
		}
		if n, ok := ids["package"]; ok {
			socket = n[socket]
		}
		if n, ok := ids["numa"]; ok {
			numa = n[numa]
		}
		core := at("core")
		if core < 0 {
			core = i
		}
		c := CPU{ID: pu, Online: true, Socket: socket, NUMA: numa, LLC: socket}
		if _, ok := cores[socket]; !ok {
			cores[socket] = core
		}
		c.Core = core - cores[socket]
		if last != "" {
			c.LLC = at(last)
		}
		if last < "l3" { // cAdvisor looks at caches above level 2 only
			none := NoUncore
			c.Uncore = &none
		}
		if die := at("die"); die >= 0 {
			c.Die = &die
		}
		m.CPUs = append(m.CPUs, c)
	}
	m.addMemory(levels, ids["numa"])
	m.addDistances(usualDistances())
	return m, nil
}

// lastCache is the kind of the highest cache level, "" for none.
func lastCache(levels []level) string {
	var last string
	for _, l := range levels {
		if len(l.kind) == 2 && l.kind[0] == 'l' {
			last = max(last, l.kind)
		}
	}
	return last
}

// indexAt is the logical index of the first object of the kind that holds the
// i-th CPU, or -1.
func indexAt(levels []level, kind string, i, total int) int {
	for _, l := range levels {
		if l.kind == kind {
			return i / (total / l.total)
		}
	}
	return -1
}

// addMemory makes the nodes. Further nodes attached to the same place hold
// memory only.
func (m *Machine) addMemory(levels []level, ids []int) {
	cores := len(m.Cores())
	first := true
	for _, l := range levels {
		if l.kind != "numa" {
			continue
		}
		copies := 1
		if l.attached {
			copies = l.each
		}
		for i := range l.total * copies {
			id := len(m.NUMA)
			if first && i < len(ids) {
				id = ids[i]
			}
			memory := l.memory
			if memory == 0 {
				memory = int64(cores) * gib / int64(l.total)
				m.assume("memory: 1Gi a core, as none is given")
			}
			m.NUMA = append(m.NUMA, Node{ID: id, Memory: memory})
		}
		first = false
	}
	if len(m.NUMA) == 0 {
		m.NUMA = []Node{{Memory: int64(cores) * gib}}
		m.assume("memory: 1Gi a core, as none is given")
	}
	for _, n := range m.NUMA {
		m.Memory += n.Memory
	}
}
