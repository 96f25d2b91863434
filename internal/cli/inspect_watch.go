package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kqos/kqos/internal/inspect"
	quantities "github.com/kqos/kqos/internal/quantity"
	"github.com/kqos/kqos/internal/render"
)

// How often what is known of pods and configuration is learnt anew: soon after
// cgroups came or went, and now and then in any case.
const (
	learnSoon = 10 * time.Second
	learnLate = time.Minute
)

// keptFiles is how many files may stay open between two looks: ten for each
// cgroup of a full node.
const keptFiles = 16 << 10

// watcher looks at a node again and again.
type watcher struct {
	o       inspectOptions
	a       *app
	target  string
	survey  *survey
	monitor *inspect.Monitor
	learnt  time.Time
	changed bool
	// observer tells others of each look; nil for nobody.
	observer *observer
	// one look at a time, and none once the watcher is closed.
	looking sync.Mutex
}

// close waits for a look that is on its way.
func (w *watcher) close() {
	w.looking.Lock()
	defer w.looking.Unlock()
	w.monitor.Close()
}

// newWatcher learns about the node. What can't be learnt is logged once.
func newWatcher(ctx context.Context, o inspectOptions, a *app, target string) (*watcher, error) {
	s, err := o.survey(ctx, a, target)
	if err != nil {
		return nil, err
	}
	return &watcher{o: o, a: a, target: target, survey: s, monitor: inspect.NewMonitor(&s.Inspection, keptFiles), learnt: time.Now()}, nil
}

// look is one more look.
func (w *watcher) look(ctx context.Context, focus inspect.Focus) (*cgroupInspection, error) {
	w.looking.Lock()
	defer w.looking.Unlock()
	asked := time.Now()
	if age := time.Since(w.learnt); age > learnLate || w.changed && age > learnSoon {
		if s, err := w.o.survey(ctx, w.a, w.target); err == nil {
			w.survey, w.changed = s, false
			w.monitor.Adopt(&s.Inspection)
		}
		w.learnt = time.Now() // also where it failed: what was known still serves
	}
	ctx, cancel := w.o.reading(ctx, asked)
	defer cancel()
	begun := time.Now()
	report, changed := w.monitor.Look(ctx, focus)
	w.changed = w.changed || changed
	w.observer.saw(ctx, w.survey, report, time.Since(begun))
	return w.o.result(w.survey, report), nil
}

// follow looks again and again: on a terminal in place, else line by line.
func (o *inspectOptions) follow(ctx context.Context, a *app, target string) error {
	w, err := newWatcher(ctx, *o, a, target)
	if err != nil {
		return err
	}
	defer w.close()
	if o.metricsAddress != "" {
		w.observer = newObserver(o, a)
		end, err := serveMetrics(ctx, o.metricsAddress, a.writes, w.observer.register)
		if err != nil {
			return err
		}
		defer end()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends a look that nobody waits for, before close does
	in, typed := a.In.(*os.File)
	_, drawn := a.Out.(*os.File) // that of an archive is none, and nothing moves there
	if typed && drawn && a.Terminal && isTerminal(in) && (o.output.text() || o.output.format == "tree") {
		return runLive(ctx, newLiveView(o, a.useColor(), func(focus inspect.Focus) (*cgroupInspection, error) { return w.look(ctx, focus) }), a)
	}
	for _, note := range w.survey.notes {
		a.logger().Warn(note)
	}
	header, focus := false, inspect.Focus{}
	if o.metricsAddress != "" {
		// Figures of use are the business of others.
		focus.Shown = func(string) bool { return false }
	}
	for n := 0; o.count == 0 || n < o.count; n++ {
		if n > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(o.interval):
			}
		}
		v, err := w.look(ctx, focus)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if o.metricsAddress != "" {
			continue
		}
		if err := o.printLook(a, v, &header); err != nil {
			return err
		}
	}
	return nil
}

// printLook prints one look as lines, or as an object.
func (o *inspectOptions) printLook(a *app, v *cgroupInspection, header *bool) error {
	if !o.output.text() && o.output.format != "tree" {
		return o.output.print(a, o.view(v))
	}
	style := render.Style{Wide: o.output.format == "wide", NoHeaders: o.output.noHeaders || *header, Color: a.useColor()}
	*header = true
	return lines(v, o, style).Print(a.Out, style)
}

// lines is a look as rows that begin with the time, for logs.
func lines(v *cgroupInspection, o *inspectOptions, s render.Style) render.Table {
	t := render.Table{Columns: slices.Concat([]render.Column{{Name: "TIME"}, {Name: "CGROUP"}}, usageColumns())}
	now := time.Now().Format(time.TimeOnly)
	for _, l := range o.outline(v, "", render.Style{}) {
		c := &v.Cgroups[l.cgroup]
		t.Rows = append(t.Rows, slices.Concat([]string{now, c.place()}, usageCells(c, l.drift, s)))
	}
	return t
}

// status sums a look up for the head of the live view.
func (v *cgroupInspection) status() string {
	drifted := 0
	for i := range v.Cgroups {
		drifted += len(v.Cgroups[i].Drift)
	}
	return strings.Join([]string{
		quantities.Count(len(v.Cgroups), "cgroup"), quantities.Count(drifted, "drifted file"), quantities.Count(len(v.Leaks), "leak"), quantities.Count(len(v.Intruders), "intruder"),
	}, ", ")
}
