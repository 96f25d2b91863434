package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/quantity"
)

const (
	legendHeight = 19
	// ownerColors is how many colours the style sheet has for owners; more owners
	// than that share colours and are told apart by their letters.
	ownerColors = 10
	// legendList is how much of a list of CPUs a line of the legend shows.
	legendList = 60
)

// legendEntry is how CPUs of one mark are drawn.
type legendEntry struct {
	Class, Letter string
}

// legend gives each mark that occurs a class of the style sheet and a letter.
type legend struct {
	entries map[machine.Mark]legendEntry
	cpus    map[machine.Mark][]machine.CPU
	order   []machine.Mark
}

// legendLine is one line below the picture.
type legendLine struct {
	legendEntry
	Text string
	Y    int
}

// newLegend collects the marks in the order: reserved, exclusive by owner,
// shared, isolated, offline.
func newLegend(m *machine.Machine, marks machine.Marks) *legend {
	l := &legend{entries: map[machine.Mark]legendEntry{}, cpus: map[machine.Mark][]machine.CPU{}}
	for _, c := range m.CPUs {
		key := legendKey(marks[c.ID])
		if _, ok := l.cpus[key]; !ok {
			l.order = append(l.order, key)
		}
		l.cpus[key] = append(l.cpus[key], c)
	}
	states := []machine.State{machine.Reserved, machine.Exclusive, machine.Shared, machine.Isolated, machine.Unmarked, machine.Offline}
	slices.SortFunc(l.order, func(a, b machine.Mark) int {
		return cmp.Or(cmp.Compare(slices.Index(states, a.State), slices.Index(states, b.State)), cmp.Compare(a.Owner, b.Owner))
	})
	owners := 0
	for _, k := range l.order {
		e := legendEntry{Class: string(k.State)}
		switch k.State {
		case machine.Reserved:
			e.Letter = "R"
		case machine.Shared:
			e.Letter = "S"
		case machine.Isolated:
			e.Letter = "I"
		case machine.Exclusive:
			e.Class = "owner" + strconv.Itoa(owners%ownerColors)
			e.Letter = ownerLetters(owners)
			owners++
		case machine.Unmarked:
			e.Class = "unmarked"
		}
		l.entries[k] = e
	}
	return l
}

// legendKey leaves out what the drawing shows on top of the colour.
func legendKey(k machine.Mark) machine.Mark {
	k.Isolated = false
	return k
}

// ownerLetters are a, b, … z, aa, ab …
func ownerLetters(i int) string {
	letters := ""
	for ; i >= 0; i = i/26 - 1 {
		letters = string(rune('a'+i%26)) + letters
	}
	return letters
}

func (l *legend) entry(k machine.Mark) legendEntry { return l.entries[legendKey(k)] }

// lines are the legend's, none when no CPU is marked.
func (l *legend) lines() []legendLine {
	if len(l.order) == 1 && l.order[0].State == machine.Unmarked {
		return nil
	}
	var lines []legendLine
	for i, k := range l.order {
		text := k.String()
		if text == "" {
			text = "online"
		}
		text += fmt.Sprintf("  %s  %s", quantity.Count(len(l.cpus[k]), "CPU"), clip(listOf(l.cpus[k]), legendList))
		lines = append(lines, legendLine{l.entries[k], spaced(text), i * legendHeight})
	}
	return lines
}

func (l *legend) width() int {
	widest := 0
	for _, line := range l.lines() {
		widest = max(widest, textWidth(line.Text, titleGlyph)+40)
	}
	return widest
}
