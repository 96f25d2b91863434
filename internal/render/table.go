// Package render prints what it is given: rows as tables, objects through
// kubectl's printers, trees and pictures. It decides no value.
//
//	render.Table{
//		Columns: []render.Column{{Name: "POD"}, {Name: "CPUS", Right: true}},
//		Rows:    [][]string{{"web", "0-3"}},
//	}.Print(os.Stdout, render.Style{})
package render

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// Style is how text output looks.
type Style struct {
	// Wide shows the columns that are marked Wide.
	Wide bool
	// NoHeaders leaves the header line out.
	NoHeaders bool
	// Color allows ANSI colours. Colour never carries meaning alone.
	Color bool
}

// Column describes one column of a table.
type Column struct {
	// Name is the header, in upper case.
	Name string
	// Wide columns appear only in the wide form.
	Wide bool
	// Right aligns numbers.
	Right bool
}

// Table is rows of text under named columns, printed as kubectl does: upper
// case headers, no borders, no wrapping.
type Table struct {
	Columns []Column
	Rows    [][]string
}

// blockRows is how many rows are laid out at once: the library takes some
// kilobytes for each.
const blockRows = 1000

// Print writes the table. A row may be shorter than the columns.
func (t Table) Print(w io.Writer, s Style) error {
	shown := t.shown(s.Wide)
	l := layout{color: s.Color}
	for _, c := range shown {
		l.align = append(l.align, map[bool]tw.Align{true: tw.AlignRight, false: tw.AlignLeft}[t.Columns[c].Right])
	}
	var header []string
	if !s.NoHeaders {
		header = t.header(shown)
	}
	if len(t.Rows) > blockRows {
		l.fit(header)
		for _, row := range t.Rows {
			l.fit(pick(row, shown))
		}
	}
	for {
		n := min(len(t.Rows), blockRows)
		block := make([][]string, n)
		for i, row := range t.Rows[:n] {
			block[i] = pick(row, shown)
		}
		if err := l.print(w, header, block); err != nil {
			return err
		}
		if t.Rows, header = t.Rows[n:], nil; len(t.Rows) == 0 {
			return nil
		}
	}
}

// layout is how the columns of a table stand.
type layout struct {
	color bool
	align []tw.Align
	// widths hold the columns of one block to those of the others; nil where there
	// is one block.
	widths tw.Mapper[int, int]
}

// fit widens the columns to the cells of a row and the space after each.
func (l *layout) fit(row []string) {
	if l.widths == nil {
		l.widths = tw.Mapper[int, int]{}
	}
	for i, cell := range row {
		width := twwidth.WidthNoCache(printable(cell, l.color))
		if i < len(l.align)-1 {
			width += len(gutter)
		}
		l.widths[i] = max(l.widths[i], width)
	}
}

// print lays out one block of rows, with a header line where it is not nil.
func (l *layout) print(w io.Writer, header []string, rows [][]string) error {
	var out bytes.Buffer
	table := tablewriter.NewTable(&out,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Settings: tw.Settings{
				Lines:      tw.LinesNone,
				Separators: tw.SeparatorsNone,
			},
		})),
		tablewriter.WithConfig(tablewriter.Config{
			Header: tw.CellConfig{
				Formatting: tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone},
				Alignment:  tw.CellAlignment{PerColumn: l.align},
				Padding:    gutters(len(l.align)),
			},
			Row: tw.CellConfig{
				Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone},
				Alignment:  tw.CellAlignment{PerColumn: l.align},
				Padding:    gutters(len(l.align)),
			},
			Widths:   tw.CellWidth{PerColumn: l.widths},
			Behavior: tw.Behavior{TrimSpace: tw.Off},
		}),
	)
	if header != nil {
		table.Header(header)
	}
	for _, cells := range rows {
		for i := range cells {
			cells[i] = printable(cells[i], l.color)
		}
		if err := table.Append(cells); err != nil {
			return fmt.Errorf("laying out a table row: %w", err)
		}
	}
	if err := table.Render(); err != nil {
		return fmt.Errorf("laying out a table: %w", err)
	}
	// The text shrinks in place: no line grows.
	text := out.Bytes()
	trimmed := text[:0]
	for line := range bytes.Lines(text) {
		trimmed = append(append(trimmed, bytes.TrimRight(line, " \n")...), '\n')
	}
	_, err := w.Write(trimmed)
	return err
}

// printable keeps a cell on its line and a hostile name from steering the
// terminal: control characters become spaces. Escapes stay where colour is on.
func printable(cell string, color bool) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && (r != '\x1b' || !color) {
			return ' '
		}
		return r
	}, cell)
}

// CSV writes all columns, the wide ones too, with one header line.
func (t Table) CSV(w io.Writer, s Style) error {
	all := t.shown(true)
	out := csv.NewWriter(w)
	if !s.NoHeaders {
		if err := out.Write(t.header(all)); err != nil {
			return fmt.Errorf("writing the csv header: %w", err)
		}
	}
	for _, row := range t.Rows {
		if err := out.Write(pick(row, all)); err != nil {
			return fmt.Errorf("writing a csv row: %w", err)
		}
	}
	out.Flush()
	return out.Error()
}

func (t Table) shown(wide bool) []int {
	var shown []int
	for i, c := range t.Columns {
		if wide || !c.Wide {
			shown = append(shown, i)
		}
	}
	return shown
}

func (t Table) header(shown []int) []string {
	names := make([]string, len(shown))
	for i, c := range shown {
		names[i] = t.Columns[c].Name
	}
	return names
}

func pick(row []string, shown []int) []string {
	cells := make([]string, len(shown))
	for i, c := range shown {
		if c < len(row) {
			cells[i] = row[c]
		}
	}
	return cells
}

// gutter stands between columns.
const gutter = "   "

// gutters are those of each column, none after the last.
func gutters(columns int) tw.CellPadding {
	p := tw.CellPadding{PerColumn: make([]tw.Padding, columns)}
	for i := range p.PerColumn {
		p.PerColumn[i] = tw.Padding{Right: gutter, Overwrite: true}
	}
	if columns > 0 {
		p.PerColumn[columns-1] = tw.Padding{Overwrite: true}
	}
	return p
}
