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

// Print writes the table. A row may be shorter than the columns.
func (t Table) Print(w io.Writer, s Style) error {
	shown := t.shown(s.Wide)
	align := make([]tw.Align, len(shown))
	for i, c := range shown {
		align[i] = tw.AlignLeft
		if t.Columns[c].Right {
			align[i] = tw.AlignRight
		}
	}
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
				Alignment:  tw.CellAlignment{PerColumn: align},
				Padding:    gutters(len(shown)),
			},
			Row: tw.CellConfig{
				Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone},
				Alignment:  tw.CellAlignment{PerColumn: align},
				Padding:    gutters(len(shown)),
			},
			Behavior: tw.Behavior{TrimSpace: tw.Off},
		}),
	)
	if !s.NoHeaders {
		table.Header(t.header(shown))
	}
	for _, row := range t.Rows {
		cells := pick(row, shown)
		for i := range cells {
			cells[i] = printable(cells[i], s.Color)
		}
		if err := table.Append(cells); err != nil {
			return fmt.Errorf("laying out a table row: %w", err)
		}
	}
	if err := table.Render(); err != nil {
		return fmt.Errorf("laying out a table: %w", err)
	}
	for line := range bytes.Lines(out.Bytes()) {
		if _, err := w.Write(append(bytes.TrimRight(line, " \n"), '\n')); err != nil {
			return err
		}
	}
	return nil
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

// gutters separates columns by three spaces, none after the last.
func gutters(columns int) tw.CellPadding {
	p := tw.CellPadding{PerColumn: make([]tw.Padding, columns)}
	for i := range p.PerColumn {
		p.PerColumn[i] = tw.Padding{Right: "   ", Overwrite: true}
	}
	if columns > 0 {
		p.PerColumn[columns-1] = tw.Padding{Overwrite: true}
	}
	return p
}
