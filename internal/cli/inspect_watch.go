package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kqos/kqos/internal/inspect"
	"github.com/kqos/kqos/internal/render"
)

// follow looks again and again: on a terminal in place, else line by line.
func (o *inspectOptions) follow(ctx context.Context, a *app, target string) error {
	s, err := o.survey(ctx, a, target)
	if err != nil {
		return err
	}
	for _, note := range s.notes {
		a.logger().Warn(note)
	}
	a.hold()
	screen := openScreen(a)
	defer screen.close()
	learnt, header := time.Now(), false
	for n := 0; o.count == 0 || n < o.count; n++ {
		if n > 0 {
			if quit, err := o.pause(ctx, screen); quit || err != nil {
				return err
			}
		}
		// Pods come and go: what is known of them is learnt anew now and then.
		if time.Since(learnt) > podsRefresh {
			if again, err := o.survey(ctx, a, target); err == nil {
				again.Before = s.Before
				s, learnt = again, time.Now()
			}
		}
		report := o.look(ctx, s)
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := o.show(a, screen, o.result(s, report), &header); err != nil {
			return err
		}
	}
	return nil
}

// look reads the cgroups that are there now. The first look has no figures to
// take rates from.
func (o *inspectOptions) look(ctx context.Context, s *survey) *inspect.Report {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	s.walk()
	if s.Before.Empty() {
		o.measure(ctx, s)
	}
	report := s.Run(ctx)
	s.Before = report.Sample
	return report
}

// pause waits for the next look, and for what is typed meanwhile.
func (o *inspectOptions) pause(ctx context.Context, screen *screen) (quit bool, err error) {
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case key := <-screen.keys:
		return o.press(key), nil
	case <-time.After(o.interval):
		return false, nil
	}
}

// press does what a key means.
func (o *inspectOptions) press(key byte) (quit bool) {
	sorts := map[byte]string{'n': "name", 'c': "cpu", 'm': "memory", 'p': "pids", 't': "throttled", 'o': "oom", 's': "pressure", 'd': "drift"}
	switch by, ok := sorts[key]; {
	case ok:
		o.sortBy = by
	case key == 'f':
		// From all levels to ever fewer, and back to all.
		folds := slices.Concat(foldLevels(), []string{""})
		o.fold = folds[(slices.Index(folds, o.fold)+len(folds)-1)%len(folds)]
	case key == 'q', key == 3: // Ctrl-C, where the terminal hands it over
		return true
	}
	return false
}

// show prints one look.
func (o *inspectOptions) show(a *app, screen *screen, v *cgroupInspection, header *bool) error {
	if !o.output.text() && o.output.format != "tree" {
		return o.output.print(a, o.view(v))
	}
	style := render.Style{Wide: o.output.format == "wide", NoHeaders: o.output.noHeaders, Color: a.useColor()}
	if screen.live {
		var text strings.Builder
		fmt.Fprintf(&text, "kqos inspect  %s  sorted by %s, folded at %s  (q quits; n c m p t o s d sort; f folds)\n",
			time.Now().Format(time.TimeOnly), o.sortBy, or(o.fold, "no level"))
		if err := o.view(v).text(&text, style); err != nil {
			return err
		}
		return screen.draw(text.String())
	}
	style.NoHeaders = style.NoHeaders || *header
	*header = true
	return lines(v, o, style).Print(a.Out, style)
}

// lines is a look as rows that begin with the time, for logs.
func lines(v *cgroupInspection, o *inspectOptions, s render.Style) render.Table {
	t := render.Table{Columns: slices.Concat([]render.Column{{Name: "TIME"}, {Name: "CGROUP"}}, usageColumns())}
	now := time.Now().Format(time.TimeOnly)
	children := forest(v.Cgroups)
	var add func(above string)
	add = func(above string) {
		for _, i := range children[above] {
			c := &v.Cgroups[i]
			t.Rows = append(t.Rows, slices.Concat([]string{now, c.place()}, usageCells(c, len(c.Drift), s)))
			if !o.folded(c) {
				add(c.Path)
			}
		}
	}
	add("")
	return t
}

// screen is a terminal that is drawn anew in place.
type screen struct {
	live    bool
	out     io.Writer
	size    func() (rows, columns int)
	keys    <-chan byte
	restore func()
}

const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	clearLine   = "\x1b[K"
	clearRest   = "\x1b[J"
)

// openScreen takes the terminal over where the output is one and keys can be
// read from it; else the screen is not live.
func openScreen(a *app) *screen {
	s := &screen{out: a.Out, restore: func() {}}
	if !a.Terminal {
		return s
	}
	keys, size, restore, err := rawTerminal(a.In)
	if err != nil {
		a.logger().Info("no live view", "reason", err)
		return s
	}
	s.live, s.keys, s.size = true, keys, size
	s.restore = func() {
		fmt.Fprint(a.Out, leaveScreen)
		restore()
	}
	fmt.Fprint(a.Out, enterScreen)
	return s
}

func (s *screen) close() { s.restore() }

// draw shows as much of the text as fits.
func (s *screen) draw(text string) error {
	rows, columns := s.size()
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var out strings.Builder
	out.WriteString(home)
	for n, line := range all[:min(len(all), max(rows, 1))] {
		if n > 0 {
			out.WriteString("\r\n")
		}
		out.WriteString(cut(line, columns) + clearLine)
	}
	out.WriteString(clearRest)
	_, err := io.WriteString(s.out, out.String())
	return err
}

// cut shortens a line to a width, colours not counted, and ends its colours.
func cut(line string, width int) string {
	seen, escape := 0, false
	for i, r := range line {
		switch {
		case escape:
			escape = r != 'm'
		case r == '\x1b':
			escape = true
		case seen == width:
			return line[:i] + "\x1b[0m"
		default:
			seen++
		}
	}
	return line
}
