package render

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/quantity"
)

// Measures of the picture in pixels.
const (
	padding = 6
	// titleHeight is a line of a box's title, deviceHeight one of its devices.
	titleHeight  = 17
	deviceHeight = 14
	// titleGlyph and smallGlyph are the mean widths of a character at the sizes in
	// which titles and devices are set; text cannot be measured without a font.
	titleGlyph = 6.3
	smallGlyph = 5.6
	// aspect is the shape that groups of boxes aim at: a wide screen.
	aspect = 1.5
	// raggedness is how much of that shape a last row without gaps is worth.
	raggedness = 2.5
	// fewCPUs is up to where CPUs are drawn large, with their mark in words.
	fewCPUs = 48
	// mostDevices is how many lines of devices a box shows.
	mostDevices = 6
)

// cellSize is the size of one CPU.
type cellSize struct {
	width, height int
	large         bool
}

func cellFor(m *machine.Machine) cellSize {
	if len(m.CPUs) <= fewCPUs {
		return cellSize{66, 34, true}
	}
	return cellSize{28, 25, false}
}

// shape is a box of the machine with its place in the picture.
type shape struct {
	box        *machine.Box
	title      string
	devices    []string
	cells      []machine.CPU
	inner      []*shape
	x, y, w, h int
}

// measure gives the box and all in it their sizes and their places, relative to
// the box.
func measure(m *machine.Machine, b *machine.Box, cell cellSize) *shape {
	s := &shape{box: b, title: spaced(boxTitle(m, b))}
	switch {
	case b.Kind == machine.BoxCore && !cell.large:
		s.title = ""
	case b.Node != nil:
		s.devices = shorten(devicesOn(m, b.Node.ID))
	case b.Kind == machine.BoxMachine:
		s.devices = shorten(devicesOn(m, anyNode))
	}
	if b.Kind == machine.BoxCore || b.Kind == machine.BoxOffline {
		s.cells = b.CPUs
	}
	for _, inner := range b.Inner {
		s.inner = append(s.inner, measure(m, inner, cell))
	}
	top := s.padding()
	if s.title != "" {
		top = titleHeight + 2
	}
	s.w, s.h = s.pack(top, cell)
	s.w = max(s.w, textWidth(s.title, titleGlyph)+2*padding)
	for _, d := range s.devices {
		s.w = max(s.w, textWidth(d, smallGlyph)+2*padding)
	}
	s.h += len(s.devices) * deviceHeight
	if len(s.cells)+len(s.inner) == 0 {
		s.h += padding
	}
	return s
}

func (s *shape) padding() int {
	if s.box.Kind == machine.BoxCore {
		return 2
	}
	return padding
}

// pack places what is in the box below top, and returns the size that the box
// needs: threads of a core above one another, all else in rows of the number of
// columns that comes nearest to the wanted shape.
func (s *shape) pack(top int, cell cellSize) (width, height int) {
	gap := s.padding()
	switch {
	case s.box.Kind == machine.BoxCore:
		return cell.width + 2*gap, top + len(s.cells)*(cell.height+2) + gap - 2
	case s.box.Kind == machine.BoxOffline:
		columns := offlineColumns(len(s.cells))
		rows := (len(s.cells) + columns - 1) / columns
		return columns*(cell.width+2) + 2*gap, top + rows*(cell.height+2) + gap
	case len(s.inner) == 0:
		return 2 * gap, top
	}
	best := math.Inf(1)
	columns := 1
	for c := 1; c <= len(s.inner); c++ {
		w, h := s.rows(c, top, gap)
		off := math.Abs(math.Log(float64(w) / float64(h) / aspect))
		// A last row with gaps looks as if something were missing.
		empty := (c - len(s.inner)%c) % c
		off += raggedness * float64(empty) / float64(len(s.inner)+empty)
		if off < best {
			best, columns = off, c
		}
	}
	return s.rows(columns, top, gap)
}

// offlineColumns lays CPUs without a place out as wide as they are many.
func offlineColumns(cells int) int {
	return max(1, int(math.Ceil(math.Sqrt(float64(cells)*aspect))))
}

// rows places the inner boxes in that many columns.
func (s *shape) rows(columns, top, gap int) (width, height int) {
	widths := make([]int, columns)
	for i, inner := range s.inner {
		widths[i%columns] = max(widths[i%columns], inner.w)
	}
	y, rowHeight := top, 0
	x := gap
	for i, inner := range s.inner {
		column := i % columns
		if column == 0 && i > 0 {
			y += rowHeight + gap
			rowHeight, x = 0, gap
		}
		inner.x, inner.y = x, y
		x += widths[column] + gap
		width = max(width, x)
		rowHeight = max(rowHeight, inner.h)
	}
	return width, y + rowHeight + gap
}

// spaced puts a dot where text has two spaces, which SVG would make one of.
func spaced(text string) string { return strings.ReplaceAll(text, "  ", " · ") }

// shorten keeps the first devices, and each on one line.
func shorten(devices []string) []string {
	var kept []string
	for i, d := range devices {
		if i == mostDevices-1 && len(devices) > mostDevices {
			return append(kept, quantity.Count(len(devices)-i, "more device"))
		}
		kept = append(kept, clip(spaced(d), 48))
	}
	return kept
}

// clip shortens text to so many characters.
func clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

func textWidth(text string, glyph float64) int {
	return int(math.Ceil(float64(utf8.RuneCountInString(text)) * glyph))
}
