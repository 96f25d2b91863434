package apply

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kqos/kqos/internal/cgroups"
)

// Result counts cgroups by what became of them. A cgroup counts once: as
// failed if any operation on it failed.
type Result struct {
	Created   int `json:"created"`
	Updated   int `json:"updated"`
	Removed   int `json:"removed"`
	Unchanged int `json:"unchanged"`
	Failed    int `json:"failed"`
	// Writes counts the control files written.
	Writes int `json:"-"`
	// Errors tell each failed operation.
	Errors []error `json:"-"`
}

// Execute does the plan's steps, each write logged with the old and the new
// value. A failed step keeps back only what needs it: the cgroups below one
// that could not be made. It stops between steps when ctx ends.
func (p *Plan) Execute(ctx context.Context, host Host, log *slog.Logger) *Result {
	run := &execution{plan: p, host: host, log: log, outcome: map[string]cgroups.Op{}, broken: map[string]bool{}, aborted: map[string]bool{}}
	for _, s := range p.Steps {
		if ctx.Err() != nil {
			run.fail(s, fmt.Errorf("stopped before %s of cgroup %s: %w", s.Op, s.Cgroup.Path, ctx.Err()))
			continue
		}
		run.step(ctx, s)
	}
	p.memory.save(host, log)
	return run.result()
}

// execution is one Execute under way.
type execution struct {
	plan    *Plan
	host    Host
	log     *slog.Logger
	outcome map[string]cgroups.Op
	broken  map[string]bool
	// aborted are pods, by path, a step of whose resize failed: the kubelet
	// leaves the rest to the next one.
	aborted map[string]bool
	errs    []error
	writes  int
}

func (e *execution) step(ctx context.Context, s Step) {
	at := s.Cgroup.Path
	for up := at; up != "/"; up = path.Dir(up) {
		if e.broken[up] {
			e.fail(s, fmt.Errorf("%s of cgroup %s: skipped, since %s could not be made", s.Op, at, up))
			return
		}
	}
	if e.aborted[s.resize] {
		e.fail(s, fmt.Errorf("%s of cgroup %s: left for the next apply, since the resize of its pod failed before", s.Op, at))
		return
	}
	switch s.Op {
	case cgroups.OpCreate:
		if err := e.host.Create(s.Cgroup); err != nil {
			e.broken[at] = true
			e.fail(s, err)
			return
		}
		e.plan.memory.made(at)
		e.log.Info("created cgroup", "path", at)
		e.done(at, cgroups.OpCreate)
	case cgroups.OpRemove:
		if err := e.host.Remove(s.Cgroup); err != nil {
			e.fail(s, err)
			return
		}
		e.log.Info("removed cgroup", "path", at)
		e.done(at, cgroups.OpRemove)
	case cgroups.OpUpdate:
		e.update(ctx, s)
	}
}

// update writes the files of a step at once, as the kubelet does, and where
// that fails each by itself, so that one refusal keeps back no other file.
func (e *execution) update(ctx context.Context, s Step) {
	if s.enables() {
		e.write(s, s.Changes)
		return
	}
	if e.outcome[s.Cgroup.Path] == cgroups.OpCreate {
		var err error
		if s, err = e.afresh(s); err != nil {
			e.fail(s, err)
			return
		}
	}
	var ready []cgroups.Change
	for _, c := range s.Changes {
		if err := e.plan.lookBefore(ctx, e.host, s, c); err != nil {
			e.fail(s, err)
			continue
		}
		ready = append(ready, c)
	}
	if len(ready) == 0 {
		return
	}
	if err := e.host.Set(s.Cgroup, values(ready)); err == nil {
		e.check(s, ready)
		return
	}
	for _, together := range coupled(ready) {
		e.write(s, together)
	}
}

// write writes files that only go together.
func (e *execution) write(s Step, changes []cgroups.Change) {
	err := e.host.Set(s.Cgroup, values(changes))
	if err != nil && kernelRefuses(changes[0].File) {
		err = e.retryAtUse(s, changes[0], err)
	}
	if err != nil {
		e.fail(s, err)
		return
	}
	e.check(s, changes)
}

// check reads back what was written: the kernel may take a value and keep
// another.
func (e *execution) check(s Step, changes []cgroups.Change) {
	if s.enables() {
		e.note(changes)
		return
	}
	live, err := e.host.Read(s.Cgroup)
	if err != nil {
		e.fail(s, err)
		return
	}
	if !live.Exists {
		e.fail(s, fmt.Errorf("cgroup %s vanished while it was written", s.Cgroup.Path))
		return
	}
	for _, c := range changes {
		if !live.Holds(c.File, c.To) {
			e.fail(s, fmt.Errorf("%s of cgroup %s reads %q after %q was written: another writes it too, or the kernel caps it", c.File, c.Path, live.Files[c.File], c.To))
			continue
		}
		e.note([]cgroups.Change{c})
	}
}

// note records that files were written.
func (e *execution) note(changes []cgroups.Change) {
	for _, c := range changes {
		e.writes++
		e.log.Info("wrote", "path", c.Path, "file", c.File, "from", c.From, "to", c.To)
		e.plan.memory.written(c.Path, c.File, c.To, e.outcome[c.Path] == cgroups.OpCreate, e.plan.Live[c.Path].Marked)
		e.done(c.Path, cgroups.OpUpdate)
	}
}

// afresh looks at a cgroup that was just made: what reads as wanted from the
// start is not written, and what the kernel does not offer can't be. One that
// another made in the meantime is the other's.
func (e *execution) afresh(s Step) (Step, error) {
	live, err := e.host.Read(s.Cgroup)
	if err != nil {
		return s, err
	}
	if live.Exists && !live.Marked && !e.plan.options.Adopt {
		return s, fmt.Errorf("cgroup %s: another made it meanwhile; --adopt lets it be changed", s.Cgroup.Path)
	}
	now := cgroups.DiffCgroup(s.Cgroup, live)
	asked := values(s.Changes)
	s.Changes = slices.DeleteFunc(now, func(c cgroups.Change) bool { _, ok := asked[c.File]; return !ok })
	return s, nil
}

func (e *execution) done(at string, op cgroups.Op) {
	if _, ok := e.outcome[at]; !ok {
		e.outcome[at] = op
	}
}

func (e *execution) fail(s Step, err error) {
	e.errs = append(e.errs, err)
	if s.resize != "" {
		e.aborted[s.resize] = true
	}
	e.outcome[s.Cgroup.Path] = failed
}

// failed is the outcome of a cgroup that an operation failed on.
const failed cgroups.Op = "failed"

func (e *execution) result() *Result {
	r := &Result{Unchanged: e.plan.unchanged(), Errors: e.errs, Writes: e.writes}
	for _, op := range e.outcome {
		switch op {
		case cgroups.OpCreate:
			r.Created++
		case cgroups.OpUpdate:
			r.Updated++
		case cgroups.OpRemove:
			r.Removed++
		case failed:
			r.Failed++
		}
	}
	return r
}

func values(changes []cgroups.Change) map[string]string {
	files := make(map[string]string, len(changes))
	for _, c := range changes {
		files[c.File] = c.To
	}
	return files
}

// coupled groups files that the kernel only takes together or in an order that
// the library knows: quota and period, memory with and without swap, the two
// limits of one huge page size.
func coupled(changes []cgroups.Change) [][]cgroups.Change {
	groups := map[string][]cgroups.Change{}
	for _, c := range changes {
		key := c.File
		switch {
		case strings.Contains(key, "cpu.cfs_"):
			key = "cpu.cfs"
		case kernelRefuses(key):
			key = "memory"
		case strings.Contains(key, "hugetlb."):
			key = strings.Replace(key, ".rsvd.", ".", 1)
		}
		groups[key] = append(groups[key], c)
	}
	all := make([][]cgroups.Change, 0, len(groups))
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		all = append(all, groups[key])
	}
	return all
}
