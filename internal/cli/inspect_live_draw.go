package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/kqos/kqos/internal/render"
)

const liveKeys = "q quit  / filter  f fold  sort: n c m p t o s d  w wide  x findings  arrows scroll"

// frame is how many lines stand around the body: the head, the columns' names
// and the keys.
const frame = 3

func (l *liveView) body() int { return max(l.rows-frame, 1) }

func (l *liveView) wide() bool { return l.o.output.format == "wide" }

func (l *liveView) style() render.Style { return render.Style{Wide: l.wide(), Color: l.color} }

// arrange puts what was seen into the order asked for.
func (l *liveView) arrange() {
	if l.seen == nil {
		return
	}
	sorted := *l.seen
	sorted.Cgroups = slices.Clone(l.seen.Cgroups)
	l.o.order(&sorted)
	l.seen = &sorted
	l.listed = l.o.outline(l.seen, l.filter, l.style())
	l.clamp()
}

// clamp keeps the first line within what there is.
func (l *liveView) clamp() {
	all := len(l.listed)
	if l.details {
		all = len(l.findings())
	}
	l.top = max(min(l.top, all-l.body()), 0)
}

// window are the lines of the tree on the screen.
func (l *liveView) window() []outlined {
	return l.listed[min(l.top, len(l.listed)):min(l.top+l.body(), len(l.listed))]
}

// findings are the lines of what is wrong beyond figures.
func (l *liveView) findings() []string {
	if l.seen == nil {
		return nil
	}
	s := l.style()
	var text strings.Builder
	// A strings.Builder fails no write.
	_ = printTables(&text, s, driftTable(l.seen, s), leakTable(l.seen), intruderTable(l.seen, true), alignmentTable(l.seen, s))
	found := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	for _, note := range l.seen.Notes {
		found = append(found, "note: "+note)
	}
	return found
}

// View draws the screen.
func (l liveView) View() tea.View {
	lines := append([]string{l.head()}, l.lines()...)
	if l.seen != nil {
		for len(lines) < l.rows-1 {
			lines = append(lines, "")
		}
		lines = append(lines[:max(min(len(lines), l.rows-1), 1)], l.foot())
	}
	for n := range lines {
		lines[n] = ansi.Truncate(lines[n], max(l.columns, 1), "")
	}
	view := tea.NewView(strings.Join(lines, "\n"))
	view.AltScreen = true
	return view
}

func (l *liveView) head() string {
	if l.seen == nil {
		return "kqos inspect: looking"
	}
	words := []string{"kqos inspect", l.when.Format(time.TimeOnly), l.seen.status(), "sorted by " + l.o.sortBy}
	if l.o.fold != "" {
		words = append(words, "folded at "+l.o.fold)
	}
	if l.filter != "" {
		words = append(words, fmt.Sprintf("only %q", l.filter))
	}
	return strings.Join(words, "  ")
}

// lines are the columns' names and the body.
func (l *liveView) lines() []string {
	switch {
	case l.seen == nil:
		return nil
	case l.details:
		found := l.findings()
		return found[min(l.top, len(found)):min(l.top+l.body()+1, len(found))]
	}
	var text strings.Builder
	if err := rowsOf(l.seen, l.window(), l.style()).Print(&text, l.style()); err != nil {
		return []string{err.Error()}
	}
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
}

func (l *liveView) foot() string {
	if l.typing {
		return "filter (Enter keeps it, Esc drops it): " + l.filter + "_"
	}
	text := liveKeys
	if all := len(l.listed); !l.details && all > l.body() {
		text = fmt.Sprintf("%d-%d of %d  ", l.top+1, min(l.top+l.body(), all), all) + text
	}
	return l.style().Paint(render.Faint, text)
}
