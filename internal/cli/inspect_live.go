package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kqos/kqos/internal/inspect"
)

// framesPerSecond is enough for a view that changes with keys and looks.
const framesPerSecond = 15

// liveView is the state of inspect --watch on a terminal: what was seen last, and
// how it is shown.
type liveView struct {
	o       inspectOptions
	color   bool
	source  func(inspect.Focus) (*cgroupInspection, error)
	seen    *cgroupInspection
	when    time.Time
	listed  []outlined
	filter  string
	typing  bool
	details bool
	// top is the first line shown of so many columns and rows.
	top, columns, rows int
	// looks counts those done; busy says that one is on its way, again that one
	// more is wanted after it.
	looks       int
	busy, again bool
	err         error
}

// lookMsg is a look that was done, and tickMsg the time for the one after so many
// looks.
type (
	lookMsg struct {
		seen *cgroupInspection
		when time.Time
		err  error
	}
	tickMsg int
)

func newLiveView(o *inspectOptions, color bool, source func(inspect.Focus) (*cgroupInspection, error)) liveView {
	return liveView{o: *o, color: color, source: source, rows: 24, columns: 80, busy: true}
}

// runLive shows the view until a key or the context ends it.
func runLive(ctx context.Context, l liveView, a *app) error {
	defer a.hold()() // the terminal is put back first
	program := tea.NewProgram(l, tea.WithContext(ctx), tea.WithInput(a.In), tea.WithOutput(a.Out), tea.WithFPS(framesPerSecond), tea.WithoutSignalHandler())
	last, err := program.Run()
	switch done, _ := last.(liveView); {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, tea.ErrInterrupted):
		return nil
	case err != nil:
		return err
	default:
		return done.err
	}
}

// Init looks for the first time.
func (l liveView) Init() tea.Cmd { return l.look() }

// look reads what the view needs: every figure of the lines on the screen, and
// of all others the one that they are sorted by.
func (l liveView) look() tea.Cmd {
	focus := inspect.Focus{Key: l.o.sortBy}
	if l.seen != nil {
		shown := map[string]bool{}
		for _, line := range l.window() {
			shown[l.seen.Cgroups[line.cgroup].Path] = true
		}
		focus.Shown = func(path string) bool { return shown[path] }
	}
	return func() tea.Msg {
		seen, err := l.source(focus)
		return lookMsg{seen, time.Now(), err}
	}
}

// Update does what a key, a look or the time asks for.
func (l liveView) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		l.columns, l.rows = msg.Width, msg.Height
		l.clamp()
	case lookMsg:
		return l.took(msg)
	case tickMsg:
		if int(msg) == l.looks && !l.busy {
			l.busy = true
			return l, l.look()
		}
	case tea.KeyPressMsg:
		return l.press(msg)
	}
	return l, nil
}

// took shows a look and waits for the next.
func (l liveView) took(msg lookMsg) (tea.Model, tea.Cmd) {
	l.busy, l.looks = false, l.looks+1
	if msg.err != nil {
		l.err = msg.err
		return l, tea.Quit
	}
	l.seen, l.when = msg.seen, msg.when
	l.arrange()
	switch {
	case l.o.count > 0 && l.looks >= l.o.count:
		return l, tea.Quit
	case l.again:
		l.again, l.busy = false, true
		return l, l.look()
	}
	next := tickMsg(l.looks)
	return l, tea.Tick(l.o.interval, func(time.Time) tea.Msg { return next })
}

// press does what a key means.
func (l liveView) press(key tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	name := key.String()
	if name == "ctrl+c" || name == "q" && !l.typing {
		return l, tea.Quit
	}
	switch {
	case l.typing:
		l.edit(key)
	case l.scroll(name):
	default:
		l.command(name)
	}
	l.arrange()
	if l.busy {
		l.again = true
		return l, nil
	}
	l.busy = true
	return l, l.look()
}

// edit changes the filter letter by letter.
func (l *liveView) edit(key tea.KeyPressMsg) {
	switch key.String() {
	case "enter":
		l.typing = false
	case "esc":
		l.typing, l.filter = false, ""
	case "backspace":
		letters := []rune(l.filter)
		l.filter = string(letters[:max(len(letters)-1, 0)])
	default:
		l.filter += key.Text
	}
}

// command sorts, folds, filters or turns to the findings.
func (l *liveView) command(name string) {
	sorts := map[string]string{"n": "name", "c": "cpu", "m": "memory", "p": "pids", "t": "throttled", "o": "oom", "s": "pressure", "d": "drift"}
	if by, ok := sorts[name]; ok {
		l.o.sortBy, l.top = by, 0
		return
	}
	switch name {
	case "f": // from all levels to ever fewer, and back to all
		folds := slices.Concat(foldLevels(), []string{""})
		l.o.fold = folds[(slices.Index(folds, l.o.fold)+len(folds)-1)%len(folds)]
	case "/":
		l.typing, l.top = true, 0
	case "esc":
		l.filter, l.details = "", false
	case "w":
		l.o.output.format = map[bool]string{true: "table", false: "wide"}[l.wide()]
	case "x":
		l.details, l.top = !l.details, 0
	}
}

// scroll moves the first line shown; false where the key moves nothing.
func (l *liveView) scroll(name string) bool {
	page := max(l.body()-1, 1)
	steps := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -page, "pgdown": page, "space": page, "home": -1 << 20, "g": -1 << 20, "end": 1 << 20, "G": 1 << 20}
	step, ok := steps[name]
	l.top += step
	return ok
}
