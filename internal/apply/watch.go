package apply

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/kqos/kqos/internal/cgroups"
)

// maxBackOff is the longest pause after errors: what a node could be left in
// disorder for once its trouble is over.
const maxBackOff = time.Minute

// Target is what a Loop works towards.
type Target struct {
	Tree    cgroups.Tree
	Options Options
}

// Loop keeps a host as wanted until its context ends. A pass with nothing to do
// only reads.
type Loop struct {
	Host Host
	// Lock takes the root's lock for the time of writing.
	Lock func(context.Context) (release func(), err error)
	// Desire computes the target from manifests and configuration.
	Desire func(context.Context) (Target, error)
	// Changed says that what Desire reads has changed; Hangup that a person wants
	// all of it read again and contended files tried again.
	Changed, Hangup <-chan struct{}
	// Interval is the pause between passes; Refresh how often Desire is asked
	// without a change, 0 never.
	Interval, Refresh time.Duration
	// Afresh tries again what earlier runs left to another writer.
	Afresh bool
	// Watchdog is how often the service manager wants a sign of life, 0 never.
	Watchdog time.Duration
	// Notify tells the service manager, in the words of sd_notify(3).
	Notify func(state string)
	// Metrics may be nil.
	Metrics *Metrics
	Log     *slog.Logger

	memory    *Memory
	target    Target
	refreshed time.Time
	told      string
	noted     []string
	failures  int
}

// Run works until ctx ends, which is no error. It fails only when there is no
// valid target to begin with.
func (l *Loop) Run(ctx context.Context) error {
	l.memory = NewMemory()
	if l.Afresh {
		l.memory.Forget()
	}
	target, err := l.Desire(ctx)
	if err != nil {
		return err
	}
	l.target, l.refreshed = target, time.Now()
	l.pass(ctx)
	l.Notify("READY=1\n" + l.status())
	defer l.Notify("STOPPING=1")
	for l.wait(ctx) {
		if l.Refresh > 0 && time.Since(l.refreshed) >= l.Refresh {
			l.reload(ctx)
		}
		l.pass(ctx)
		l.Notify(l.status())
	}
	return nil
}

// wait pauses for the interval, longer after errors, and ends at once when
// something changed. It gives false when ctx has ended.
func (l *Loop) wait(ctx context.Context) bool {
	pause := time.NewTimer(l.pause())
	defer pause.Stop()
	alive := time.NewTicker(max(l.Watchdog/2, time.Second/2))
	defer alive.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-pause.C:
			return true
		case <-l.Changed:
			l.reload(ctx)
			return true
		case <-l.Hangup:
			l.memory.Forget()
			l.reload(ctx)
			return true
		case <-alive.C:
			if l.Watchdog > 0 {
				l.Notify("WATCHDOG=1")
			}
		}
	}
}

// pause doubles with each pass that failed in a row.
func (l *Loop) pause() time.Duration {
	pause := l.Interval
	for range l.failures {
		if pause *= 2; pause >= maxBackOff {
			return max(maxBackOff, l.Interval)
		}
	}
	return pause
}

// reload asks for the target again. A broken edit keeps the last good one.
func (l *Loop) reload(ctx context.Context) {
	l.refreshed = time.Now()
	target, err := l.Desire(ctx)
	if err != nil {
		if ctx.Err() == nil {
			l.Log.Error("the last good state is kept", "error", err.Error())
			l.Metrics.failed()
		}
		return
	}
	l.target = target
	l.failures = 0
}

// pass makes the host as wanted once. The lock is taken only to write, and the
// plan is made again below it.
func (l *Loop) pass(ctx context.Context) {
	start := time.Now()
	plan, err := Make(l.target.Tree, l.Host, l.target.Options, l.memory)
	result := &Result{}
	if len(plan.Steps) > 0 || len(l.memory.unsaved) > 0 {
		plan, result, err = l.write(ctx)
	}
	if ctx.Err() != nil {
		return
	}
	l.tell(plan)
	if err != nil {
		l.Log.Error("reading the host", "error", err.Error())
	}
	for _, e := range result.Errors {
		l.Log.Error(e.Error())
	}
	if err != nil || len(result.Errors) > 0 {
		l.failures++
	} else {
		l.failures = 0
	}
	l.Metrics.passed(plan, result, err, l.memory.Contended(), time.Since(start))
}

func (l *Loop) write(ctx context.Context) (*Plan, *Result, error) {
	release, err := l.Lock(ctx)
	if err != nil {
		return &Plan{Tree: l.target.Tree}, &Result{}, err
	}
	defer release()
	plan, err := Make(l.target.Tree, l.Host, l.target.Options, l.memory)
	return plan, plan.Execute(ctx, l.Host, l.Log), err
}

// tell reports what the host can't do and what is held back, when it is something
// else than before.
func (l *Loop) tell(plan *Plan) {
	for _, note := range plan.Notes {
		if !slices.Contains(l.noted, note) {
			l.noted = append(l.noted, note)
			l.Log.Warn(note)
		}
	}
	var all []error
	for _, w := range plan.Withheld {
		all = append(all, fmt.Errorf("%s %s: %s", w.Path, w.File, key(w)))
	}
	now := ""
	if err := errors.Join(all...); err != nil {
		now = err.Error()
	}
	if now == l.told {
		return
	}
	l.told = now
	for _, w := range plan.Withheld {
		l.Log.Warn("not written", "path", w.Path, "file", w.File, "from", w.From, "to", w.To, "reason", w.Reason)
	}
}

// key is what makes a withheld change another one than before: numbers in its
// reason, such as the use, differ in each pass.
func key(w Withheld) string { return string(w.Op) + w.To + w.File }

// status is one line for systemctl status.
func (l *Loop) status() string {
	state := "STATUS=as wanted"
	switch {
	case l.failures > 0:
		state = fmt.Sprintf("STATUS=%d passes failed, next in %s", l.failures, l.pause())
	case l.memory.Contended() > 0:
		state = fmt.Sprintf("STATUS=%d files are contended", l.memory.Contended())
	case l.told != "":
		state = "STATUS=some differences are held back"
	}
	return fmt.Sprintf("%s (%d cgroups)", state, len(l.target.Tree.Cgroups))
}
