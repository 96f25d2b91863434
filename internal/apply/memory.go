package apply

import (
	"fmt"
	"time"

	"github.com/kqos/kqos/internal/cgroups"
)

// A file that was rewritten this often within this time is fought over.
const (
	maxRewrites   = 3
	rewriteWindow = 10 * time.Minute
)

// Memory is what one run of apply remembers from pass to pass. It is never
// stored.
type Memory struct {
	// Now is the clock.
	Now func() time.Time

	first     map[fileOf]time.Time
	wrote     map[fileOf][]time.Time
	last      map[fileOf]string
	contested map[fileOf]bool
}

type fileOf struct{ path, file string }

// NewMemory begins with nothing seen.
func NewMemory() *Memory {
	m := &Memory{Now: time.Now}
	m.Forget()
	return m
}

// Forget drops all that was seen, so that contended files are written again:
// for a reload that a person asked for.
func (m *Memory) Forget() {
	m.first = map[fileOf]time.Time{}
	m.wrote = map[fileOf][]time.Time{}
	m.last = map[fileOf]string{}
	m.contested = map[fileOf]bool{}
}

// Contended counts the files that are not written any more.
func (m *Memory) Contended() int { return len(m.contested) }

// differs notes that a file is not as wanted and tells for how long.
func (m *Memory) differs(path, file string) time.Duration {
	key := fileOf{path, file}
	first, ok := m.first[key]
	if !ok {
		first = m.Now()
		m.first[key] = first
	}
	return m.Now().Sub(first)
}

// keep forgets differences that are gone.
func (m *Memory) keep(changes []cgroups.Change) {
	now := make(map[fileOf]bool, len(changes))
	for _, c := range changes {
		now[fileOf{c.Path, c.File}] = true
	}
	for key := range m.first {
		if !now[key] {
			delete(m.first, key)
		}
	}
}

// written notes a write. Writing the value again that was last written means
// that another changed it back.
func (m *Memory) written(path, file, value string) {
	key := fileOf{path, file}
	delete(m.first, key)
	if last, ok := m.last[key]; ok && last == value {
		m.wrote[key] = append(m.recent(key), m.Now())
	} else {
		delete(m.wrote, key)
		delete(m.contested, key)
	}
	m.last[key] = value
}

// recent are the rewrites within the window.
func (m *Memory) recent(key fileOf) []time.Time {
	since := m.Now().Add(-rewriteWindow)
	var times []time.Time
	for _, t := range m.wrote[key] {
		if t.After(since) {
			times = append(times, t)
		}
	}
	return times
}

// fought says whether a file is fought over. Once it is, it stays so for this
// value.
func (m *Memory) fought(path, file, value string) bool {
	key := fileOf{path, file}
	if m.last[key] != value {
		return false
	}
	if len(m.recent(key)) >= maxRewrites {
		m.contested[key] = true
	}
	return m.contested[key]
}

// unsettled holds back the mending of a file below a live kubelet's root until
// it has differed for long enough: the kubelet mends its tiers at each tick.
func (p *Plan) unsettled(_ *cgroups.Cgroup, c cgroups.Change) string {
	if p.options.Kubelet == nil || c.Op != cgroups.OpUpdate || p.options.Settle <= 0 {
		return ""
	}
	if since := p.memory.differs(c.Path, c.File); since < p.options.Settle {
		return fmt.Sprintf("it has differed for %s; a kubelet works here, so it is mended after %s (--settle)", since.Round(time.Second), p.options.Settle)
	}
	return ""
}

// Unsettled tells how long to wait until all differences will have lasted for
// Options.Settle; 0 when none is held back for that.
func (p *Plan) Unsettled() time.Duration {
	wait := time.Duration(0)
	for _, w := range p.Withheld {
		if first, ok := p.memory.first[fileOf{w.Path, w.File}]; ok && p.options.Kubelet != nil {
			wait = max(wait, p.options.Settle-p.memory.Now().Sub(first))
		}
	}
	return wait
}

// contended leaves a file to another writer.
func (p *Plan) contended(cg *cgroups.Cgroup, c cgroups.Change) string {
	if c.Op != cgroups.OpUpdate || !p.memory.fought(c.Path, c.File, c.To) {
		return ""
	}
	return fmt.Sprintf("contended: written %d times within %s and changed back each time, likely by %s; kqos leaves it until it is told to reload", maxRewrites+1, rewriteWindow, likelyWriter(cg, c.File))
}

// likelyWriter names who else writes such a file.
func likelyWriter(cg *cgroups.Cgroup, file string) string {
	controller, _ := cgroups.SplitFile(file)
	switch {
	case controller == "cpuset":
		return "the kubelet's CPU manager, an NRI plugin or koordlet"
	case cg.Level == cgroups.LevelQoS || cg.Level == cgroups.LevelNode:
		return "the kubelet (each minute), koordlet or systemd"
	}
	return "an in-place resize, an NRI plugin or koordlet"
}
