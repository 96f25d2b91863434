package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/inspect"
)

// look is what the tests' node shows: two pods with a container each, the second
// one under pressure.
func look() *cgroupInspection {
	one, nine := int64(1), int64(9)
	pod := func(name string) *cgroups.PodRef { return &cgroups.PodRef{Namespace: "shop", Name: name, UID: name} }
	return &cgroupInspection{Cgroups: []inspectedCgroup{
		{Path: "/kubepods", Level: cgroups.LevelNode},
		{Path: "/kubepods/podweb", Level: cgroups.LevelPod, Pod: pod("web"), Usage: inspectedUsage{PIDs: &one}},
		{Path: "/kubepods/podweb/0123456789ab", Level: cgroups.LevelContainer, Pod: pod("web"), Container: "nginx", ContainerID: "0123456789ab", Usage: inspectedUsage{PIDs: &one}},
		{Path: "/kubepods/podzoo", Level: cgroups.LevelPod, Pod: pod("zoo"), Usage: inspectedUsage{PIDs: &nine, Pressure: map[string]float64{"cpu": 80}}},
		{
			Path: "/kubepods/podzoo/0123456789ac", Level: cgroups.LevelContainer, Pod: pod("zoo"), Container: "ape", ContainerID: "0123456789ac", Usage: inspectedUsage{PIDs: &nine},
			Drift: []inspect.Drift{{File: "cpu.weight", Want: "4", Have: "7", Writer: "by hand"}},
		},
	}}
}

// live is a view after its first look.
func live(t *testing.T, rows int) liveView {
	t.Helper()
	o := &inspectOptions{sortBy: "name", interval: time.Hour}
	l := newLiveView(o, false, func(inspect.Focus) (*cgroupInspection, error) { return look(), nil })
	return step(t, l, tea.WindowSizeMsg{Width: 120, Height: rows}, lookMsg{seen: look()})
}

func step(t *testing.T, l liveView, msgs ...tea.Msg) liveView {
	t.Helper()
	for _, msg := range msgs {
		next, _ := l.Update(msg)
		l = next.(liveView)
	}
	return l
}

// press types words such as "m", "esc" or "pgdown".
func press(words string) []tea.Msg {
	special := map[string]rune{"esc": tea.KeyEscape, "enter": tea.KeyEnter, "backspace": tea.KeyBackspace, "up": tea.KeyUp, "down": tea.KeyDown, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd}
	var msgs []tea.Msg
	for word := range strings.FieldsSeq(words) {
		if code, ok := special[word]; ok {
			msgs = append(msgs, tea.KeyPressMsg{Code: code})
			continue
		}
		for _, r := range word {
			msgs = append(msgs, tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return msgs
}

// first are the first words of the lines shown.
func first(l liveView) string {
	var words []string
	for _, line := range l.window() {
		words = append(words, strings.TrimLeft(line.text, "├─└│ "))
	}
	return strings.Join(words, " ")
}

func TestLiveKeys(t *testing.T) {
	for _, tt := range []struct {
		name, keys, shown string
	}{
		{"at first", "", "/kubepods shop/web nginx shop/zoo ape"},
		{"sorted", "p", "/kubepods shop/zoo ape shop/web nginx"},
		{"sorted back", "p n", "/kubepods shop/web nginx shop/zoo ape"},
		{"folded once", "f f", "/kubepods shop/web shop/zoo"},
		{"folded all round", "f f f f f", "/kubepods shop/web nginx shop/zoo ape"},
		{"filtered by pod", "/ WEB", "/kubepods shop/web nginx"},
		{"filtered by container", "/ ape enter", "/kubepods shop/zoo ape"},
		{"filtered below a fold", "f f / ape enter", "/kubepods shop/zoo"},
		{"letters of a filter are no commands", "/ q backspace zoo enter", "/kubepods shop/zoo ape"},
		{"dropped while typing", "/ web esc", "/kubepods shop/web nginx shop/zoo ape"},
		{"dropped later", "/ web enter esc", "/kubepods shop/web nginx shop/zoo ape"},
		{"nothing matches", "/ zebra enter", ""},
		{"unknown key", "Z", "/kubepods shop/web nginx shop/zoo ape"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := first(step(t, live(t, 24), press(tt.keys)...)); got != tt.shown {
				t.Errorf("shown %q, want %q", got, tt.shown)
			}
		})
	}
}

// TestLiveScroll stays within the lines whatever is pressed.
func TestLiveScroll(t *testing.T) {
	for _, tt := range []struct{ keys, shown string }{
		{"", "/kubepods shop/web"},
		{"down", "shop/web nginx"},
		{"down down down down down", "shop/zoo ape"},
		{"end up", "nginx shop/zoo"},
		{"end home", "/kubepods shop/web"},
		{"pgdown", "shop/web nginx"},
		{"up", "/kubepods shop/web"},
		{"end / web", "/kubepods shop/web"},
	} {
		if got := first(step(t, live(t, frame+2), press(tt.keys)...)); got != tt.shown {
			t.Errorf("%s: shown %q, want %q", tt.keys, got, tt.shown)
		}
	}
	if got := first(step(t, live(t, 24), tea.WindowSizeMsg{Width: 1, Height: 1})); got != "/kubepods" {
		t.Errorf("on one line: %q", got)
	}
}

func TestLiveDraw(t *testing.T) {
	l := step(t, live(t, 9), press("p")...)
	l.when = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := `kqos inspect  03:04:05  5 cgroups, 1 drifted file, 0 leaks, 0 intruders  sorted by pids
CGROUP       CPU   MEMORY   LIMIT   PIDS   THROTTLED   OOM   PRESSURE   CPUS   DRIFT
/kubepods      -        -       -      -           -     -   -          -      -
├─shop/zoo     -        -       -      9           -     -   cpu 80%    -      -
│ └─ape        -        -       -      9           -     -   -          -      1
└─shop/web     -        -       -      1           -     -   -          -      -
  └─nginx      -        -       -      1           -     -   -          -      -

` + liveKeys
	if d := cmp.Diff(want, l.View().Content); d != "" {
		t.Error("-want +got:\n" + d)
	}
	if !l.View().AltScreen {
		t.Error("the shell's screen is drawn over")
	}
	l.color = true
	if text := step(t, l, press("p")...).View().Content; !strings.Contains(text, "\x1b[31m80%") {
		t.Errorf("pressure has no colour: %q", text)
	}
	if text := step(t, live(t, 9), press("x")...).View().Content; !strings.Contains(text, "cpu.weight   4      7      by hand") {
		t.Errorf("findings: %s", text)
	}
	if text := step(t, live(t, 9), press("/we")...).View().Content; !strings.HasSuffix(text, "drops it): we_") {
		t.Errorf("typing: %s", text)
	}
}

// TestLiveLooks looks again in time, at once after a key, and ends by itself.
func TestLiveLooks(t *testing.T) {
	l := live(t, frame+1)
	if _, cmd := l.Update(tickMsg(0)); cmd != nil {
		t.Error("an old tick makes a look")
	}
	next, cmd := l.Update(tickMsg(1))
	if cmd == nil || !next.(liveView).busy {
		t.Fatal("a tick makes no look")
	}
	var focus inspect.Focus
	l.source = func(f inspect.Focus) (*cgroupInspection, error) { focus = f; return nil, errors.New("gone") }
	pressed, cmd := l.Update(press("p")[0])
	msg := cmd()
	if focus.Key != "pids" || !focus.Shown("/kubepods") || focus.Shown("/kubepods/podzoo") {
		t.Errorf("focus: %+v", focus)
	}
	if l = step(t, pressed.(liveView), press("m")...); !l.again {
		t.Error("a key during a look is forgotten")
	}
	ended, cmd := l.Update(msg)
	if cmd == nil || fmt.Sprint(ended.(liveView).err) != "gone" {
		t.Errorf("a look that failed ended with %v", ended.(liveView).err)
	}
	l = live(t, 9)
	l.o.count = 2
	if _, cmd := l.Update(lookMsg{seen: look()}); cmd == nil || cmd() != tea.Quit() {
		t.Error("--count ends nothing")
	}
	for _, key := range []tea.KeyPressMsg{{Code: 'q', Text: "q"}, {Code: 'c', Mod: tea.ModCtrl}} {
		if _, cmd := live(t, 9).Update(key); cmd == nil || cmd() != tea.Quit() {
			t.Errorf("%s does not quit", key)
		}
	}
}
