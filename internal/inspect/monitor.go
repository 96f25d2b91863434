package inspect

import (
	"context"
	"slices"
	"time"
)

// turns is how many looks make a round, in which every cgroup's control files
// are read once.
const turns = 30

// Focus says what a look must be fresh in. Figures of other cgroups are as of
// the look in which they were in focus or had their turn.
type Focus struct {
	// Shown names the cgroups whose every figure is read; nil means all.
	Shown func(path string) bool
	// Key is a figure that is read of all: cpu, memory, pids, throttled, oom or
	// pressure; else none is.
	Key string
}

// Monitor looks at one node again and again. Each look reads the figures of use
// that are in focus, from files that stay open; control files, and with them
// drift, come by turns; leaks, intruders and alignment once a round. Cgroups
// that come and go are noticed at once.
type Monitor struct {
	inspection *Inspection
	wanted     *wanted
	// live are the cgroups in the order of the inspection's paths, and links the
	// number of folders right below each, by which changes are noticed.
	live  []Cgroup
	links map[string]uint64
	// rare is what the last round found.
	rare   Report
	sample Sample
	turn   int
}

// NewMonitor looks at what the inspection names. Up to files descriptors stay
// open until Close.
func NewMonitor(i *Inspection, files int) *Monitor {
	i.Hierarchy.Keep(files)
	return &Monitor{inspection: i, sample: Sample{at: map[string]reading{}}}
}

// Close releases the open files.
func (m *Monitor) Close() { m.inspection.Hierarchy.Close() }

// Adopt goes on with what a newer inspection knows of the same node: names, what
// is wanted, who has which CPUs.
func (m *Monitor) Adopt(i *Inspection) {
	i.Hierarchy.Close()
	i.Hierarchy, i.units = m.inspection.Hierarchy, m.inspection.units
	m.inspection = i
	m.walk()
}

// Look reads the node once more. Changed tells that cgroups came or went since
// the last look. It ends early, with a note, when ctx does.
func (m *Monitor) Look(ctx context.Context, focus Focus) (r *Report, changed bool) {
	i := m.inspection
	defer i.Hierarchy.release()
	changed = m.live == nil || m.changed()
	if changed || m.turn == 0 {
		m.walk()
	}
	r = &Report{Notes: m.figures(ctx, focus)}
	if m.turn == 0 {
		r.note(i.askSystemd(ctx, m.live, m.wanted))
	}
	r.Cgroups = slices.Concat(m.live, i.missing(m.wanted))
	if m.turn == 0 && ctx.Err() == nil {
		m.rare = Report{Cgroups: r.Cgroups, Leaks: i.Hierarchy.Leaks(i.Root, i.Paths, i.Owners)}
		i.exclusive(ctx, &m.rare)
	}
	r.Leaks, r.Intruders, r.Placed = m.rare.Leaks, m.rare.Intruders, m.rare.Placed
	r.Notes = append(r.Notes, m.rare.Notes...)
	if err := i.Hierarchy.Unreadable(); err != nil {
		r.Notes = append(r.Notes, err.Error())
	}
	m.turn = (m.turn + 1) % turns
	return r, changed
}

// figures reads the use of the cgroups in focus, and all of those whose turn it
// is.
func (m *Monitor) figures(ctx context.Context, focus Focus) (notes []string) {
	h := m.inspection.Hierarchy
	now := uptime(m.inspection.Root)
	moved := Sample{uptime: now}.moved(m.sample)
	m.sample.uptime = now
	for n := range m.live {
		if err := ctx.Err(); err != nil {
			return []string{stopped(err, n, len(m.live))}
		}
		c := &m.live[n]
		turn := n%turns == m.turn
		if turn {
			h.recheck(c.Path)
			c.Files = h.files(c.Path, nil)
			m.inspection.judge(c, m.wanted)
		}
		before := c.Usage.CPU
		if turn || before == nil || focus.Shown == nil || focus.Shown(c.Path) {
			c.Usage = h.usage(c.Path, c.Files, nil)
		} else {
			h.refresh(&c.Usage, c.Path, focus.Key)
		}
		if c.Usage.CPU != before { // it was read, be it the same figure
			m.rate(c, moved)
		}
	}
	return nil
}

// rate takes the CPU use since the last reading.
func (m *Monitor) rate(c *Cgroup, moved bool) {
	c.Rate = nil
	if c.Usage.CPU == nil {
		return
	}
	now := reading{time.Now(), *c.Usage.CPU}
	if moved {
		c.Rate = m.sample.rate(c.Path, now)
	}
	m.sample.at[c.Path] = now
}

// changed tells whether a cgroup that is shown went, or one came below it.
func (m *Monitor) changed() bool {
	for path, links := range m.links {
		if m.inspection.Hierarchy.links(path) != links {
			return true
		}
	}
	return false
}

// walk lists the cgroups anew. Those that stayed keep what was read of them, and
// all are judged again.
func (m *Monitor) walk() {
	i := m.inspection
	known := make(map[string]*Cgroup, len(m.live))
	for n := range m.live {
		known[m.live[n].Path] = &m.live[n]
	}
	i.Walk()
	i.Hierarchy.learnPageSizes(i.Paths)
	m.wanted = i.wants()
	m.links = make(map[string]uint64, len(i.Paths))
	live := make([]Cgroup, 0, len(i.Paths))
	for _, path := range i.Paths {
		c := Cgroup{Path: path}
		if old, ok := known[path]; ok {
			c = *old
			delete(known, path)
		} else {
			c.Files = i.Hierarchy.files(path, nil)
		}
		i.judge(&c, m.wanted)
		live = append(live, c)
		m.links[path] = i.Hierarchy.links(path)
	}
	for path := range known {
		i.Hierarchy.Forget(path)
		delete(m.sample.at, path)
	}
	m.live = live
}
