package apply

import (
	"fmt"
	"time"

	"github.com/kqos/kqos/internal/cgroups"
)

// Memory is what apply remembers from pass to pass: since when files differ,
// and which it had to write again because another changed them back. The latter
// is kept on the cgroups themselves, so that a run from cron knows of the one
// before. The former is not: below a kubelet's root a run waits itself until
// differences have lasted (see [Plan.Unsettled]), and looking writes nothing.
type Memory struct {
	// Now is the clock.
	Now func() time.Time

	first map[fileOf]time.Time
	// records are what was written, by path and file; loaded are the paths that
	// were asked for theirs, unsaved those whose changed.
	records         map[string]records
	loaded, unsaved map[string]bool
	// afresh says that what earlier runs left does not count.
	afresh bool
}

type fileOf struct{ path, file string }

// NewMemory begins with nothing seen.
func NewMemory() *Memory {
	m := &Memory{Now: time.Now}
	m.Forget()
	m.afresh = false
	return m
}

// Forget drops all that was seen, by earlier runs too, so that contended files
// are written again: for when a person asks for that.
func (m *Memory) Forget() {
	m.first = map[fileOf]time.Time{}
	m.records = map[string]records{}
	m.loaded, m.unsaved = map[string]bool{}, map[string]bool{}
	m.afresh = true
}

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

// keep forgets differences that are gone, and what was written to cgroups that
// are.
func (m *Memory) keep(changes []cgroups.Change, live cgroups.LiveTree) {
	now := make(map[fileOf]bool, len(changes))
	for _, c := range changes {
		now[fileOf{c.Path, c.File}] = true
	}
	for key := range m.first {
		if !now[key] {
			delete(m.first, key)
		}
	}
	for path := range m.records {
		if l, known := live[path]; known && !l.Exists {
			m.gone(path)
		}
	}
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
