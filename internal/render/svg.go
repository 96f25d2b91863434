package render

import (
	"fmt"
	"io"
	"strings"
	"text/template"
	"unicode"

	"github.com/kqos/kqos/internal/machine"
)

// MachineSVG draws the machine in the spirit of lstopo: a box for each package,
// NUMA node, cache and core, and each CPU in the colour of its mark with a
// letter that says the same. Owners of exclusive CPUs get colours of their own.
// The title stands above the picture; empty, there is none. It follows the
// reader's choice of light or dark.
func MachineSVG(w io.Writer, m *machine.Machine, marks machine.Marks, title string) error {
	cell := cellFor(m)
	legend := newLegend(m, marks)
	root := measure(m, m.Layout(), cell)
	top := padding
	if title != "" {
		top += titleHeight + padding
	}
	p := picture{Title: title, Name: boxTitle(m, root.box), Legend: legend.lines()}
	p.draw(root, padding, top, cell, marks, legend)
	p.Width = max(root.w, textWidth(title, titleGlyph), legend.width()) + 2*padding
	p.LegendTop = top + root.h + 2*padding
	p.Height = p.LegendTop + len(p.Legend)*legendHeight + padding
	// The templates of this package are constants: parsing cannot fail.
	t := template.Must(template.New("machine").Funcs(template.FuncMap{"text": xmlText}).Parse(svgTemplate))
	if err := t.Execute(w, p); err != nil {
		return fmt.Errorf("drawing the machine: %w", err)
	}
	return nil
}

// picture is what the template prints.
type picture struct {
	Title, Name              string
	Width, Height, LegendTop int
	Boxes                    []svgBox
	CPUs                     []svgCPU
	Legend                   []legendLine
}

// svgBox is a rectangle with a title and lines of devices at its foot.
type svgBox struct {
	X, Y, W, H int
	Class      string
	Title      string
	Devices    []svgText
}

type svgText struct {
	X, Y int
	Text string
}

// svgCPU is one CPU. Note is the tooltip.
type svgCPU struct {
	X, Y, W, H     int
	Class          string
	ID             int
	Label          string
	Note           string
	TextX          int
	IDY, LabelY    int
	Large, Crossed bool
}

// draw adds a shape at a place, outer boxes first so that inner ones cover them.
func (p *picture) draw(s *shape, x, y int, cell cellSize, marks machine.Marks, l *legend) {
	b := svgBox{X: x, Y: y, W: s.w, H: s.h, Class: string(s.box.Kind), Title: s.title}
	if s.box.Type == machine.Efficiency {
		b.Class += " efficiency"
	}
	for i, d := range s.devices {
		b.Devices = append(b.Devices, svgText{x + padding, y + s.h - padding + 2 - (len(s.devices)-1-i)*deviceHeight, d})
	}
	p.Boxes = append(p.Boxes, b)
	cx, cy := x+s.padding(), y+s.padding()
	if s.title != "" {
		cy = y + titleHeight + 2
	}
	columns := 1
	if s.box.Kind == machine.BoxOffline {
		columns = offlineColumns(len(s.cells))
	}
	for i, c := range s.cells {
		p.cpu(c, cx+i%columns*(cell.width+2), cy+i/columns*(cell.height+2), cell, marks[c.ID], l)
	}
	for _, inner := range s.inner {
		p.draw(inner, x+inner.x, y+inner.y, cell, marks, l)
	}
}

func (p *picture) cpu(c machine.CPU, x, y int, cell cellSize, k machine.Mark, l *legend) {
	entry := l.entry(k)
	v := svgCPU{
		X: x, Y: y, W: cell.width, H: cell.height, ID: c.ID, Class: entry.Class, Label: entry.Letter,
		TextX: x + cell.width/2, IDY: y + 11, LabelY: y + cell.height - 4,
		Note: cpuNote(c, k), Large: cell.large, Crossed: !c.Online,
	}
	if cell.large {
		v.IDY = y + 15
		if k.Owner != "" {
			v.Label = entry.Letter + " " + clip(lastPart(k.Owner), 9)
		} else {
			v.Label = string(k.State)
		}
	}
	if k.Isolated {
		v.Class += " isolated-cpu"
	}
	p.CPUs = append(p.CPUs, v)
}

// cpuNote tells all about a CPU.
func cpuNote(c machine.CPU, k machine.Mark) string {
	words := []string{fmt.Sprintf("CPU %d", c.ID)}
	if c.Core >= 0 {
		words = append(words, fmt.Sprintf("core %d, socket %d, NUMA node %d", c.Core, c.Socket, c.NUMA))
	}
	if c.Type != "" {
		words = append(words, string(c.Type))
	}
	if text := k.String(); text != "" {
		words = append(words, text)
	}
	if c.Hidden != "" {
		words = append(words, "the kubelet does not see it: "+c.Hidden)
	}
	return strings.Join(words, ", ")
}

// lastPart is the container of namespace/pod/container.
func lastPart(owner string) string { return owner[strings.LastIndex(owner, "/")+1:] }

// xmlText escapes text for XML and drops what XML cannot hold.
func xmlText(text string) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || r == '\ufffe' || r == '\uffff' {
			return ' '
		}
		return r
	}, text)
	return template.HTMLEscapeString(clean)
}
