package apply

import (
	"errors"
	"fmt"
	"path"

	"github.com/kqos/kqos/internal/cgroups"
)

// Plan is what separates the host from a wanted tree, and what will be done
// about it.
type Plan struct {
	Tree cgroups.Tree
	// Steps are executed in this order.
	Steps []Step
	// Withheld are differences that will not be written, each with its reason.
	Withheld []Withheld
	// Notes tell what the host can't do at all, such as a controller that it
	// lacks and the kubelet does without.
	Notes []string
	// Live is the tree as it was read.
	Live cgroups.LiveTree

	options Options
	memory  *Memory
	// refused are pods, by path, whose resize is refused, with the reason.
	refused map[string]string
	// delegated says of the cgroups that differ, and of those above them, which
	// systemd has delegated.
	delegated map[string]bool
}

// Step is one operation on one cgroup. An update may write several files.
type Step struct {
	Op      cgroups.Op
	Cgroup  *cgroups.Cgroup
	Changes []cgroups.Change
	phase   phase
	// resize is the pod, by path, that this is a step of the resize of.
	resize string
}

// Withheld is a change that is not made.
type Withheld struct {
	cgroups.Change
	Reason string `json:"reason"`
}

// Changes lists all that the plan would do and all that it holds back, in order
// of execution.
func (p *Plan) Changes() []cgroups.Change {
	var all []cgroups.Change
	for _, s := range p.Steps {
		all = append(all, s.Changes...)
	}
	for _, w := range p.Withheld {
		all = append(all, w.Change)
	}
	return all
}

// Make reads the host and plans. It writes nothing. Errors of single cgroups
// are joined; the plan then holds the rest.
func Make(tree cgroups.Tree, host Reader, o Options, memory *Memory) (*Plan, error) {
	if memory == nil {
		memory = NewMemory()
	}
	p := &Plan{Tree: tree, Live: cgroups.LiveTree{}, options: o, memory: memory}
	var errs []error
	for i := range tree.Cgroups {
		cg := &tree.Cgroups[i]
		live, err := host.Read(cg)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p.Live[cg.Path] = live
	}
	if o.Remove {
		errs = append(errs, p.planRemoval(host))
		return p, errors.Join(errs...)
	}
	changes := p.differences()
	controllers, changes, err := p.planControllers(host, changes)
	errs = append(errs, err)
	changes, err = p.planUse(host, append(changes, controllers...))
	errs = append(errs, err)
	memory.keep(changes, p.Live)
	errs = append(errs, p.recall(host, changes), p.findDelegated(host, changes))
	if o.Prune {
		removals, err := p.planPrune(host)
		errs = append(errs, err)
		changes = append(changes, removals...)
	}
	p.Steps = p.order(p.index(), p.withhold(changes))
	return p, errors.Join(errs...)
}

// recall asks the cgroups that differ what earlier runs left on them.
func (p *Plan) recall(host Reader, changes []cgroups.Change) error {
	var errs []error
	for _, c := range changes {
		if p.Live[c.Path].Exists {
			errs = append(errs, p.memory.recall(host, c.Path))
		}
	}
	return errors.Join(errs...)
}

// differences compares those cgroups that could be read.
func (p *Plan) differences() []cgroups.Change {
	var changes []cgroups.Change
	for i := range p.Tree.Cgroups {
		cg := &p.Tree.Cgroups[i]
		if live, ok := p.Live[cg.Path]; ok {
			changes = append(changes, cgroups.DiffCgroup(cg, live)...)
		}
	}
	return changes
}

// index finds the wanted cgroup of a path. A path that is not wanted (an
// ancestor, or one to be pruned) gets a plain one.
func (p *Plan) index() func(path string) *cgroups.Cgroup {
	byPath := make(map[string]*cgroups.Cgroup, len(p.Tree.Cgroups))
	for i := range p.Tree.Cgroups {
		byPath[p.Tree.Cgroups[i].Path] = &p.Tree.Cgroups[i]
	}
	return func(at string) *cgroups.Cgroup {
		cg, ok := byPath[at]
		if !ok {
			cg = &cgroups.Cgroup{Path: at, Unit: unitOf(p.Tree.Driver, at)}
			byPath[at] = cg
		}
		return cg
	}
}

// unitOf names the slice of a folder under the systemd driver.
func unitOf(driver, at string) string {
	if driver == "systemd" && path.Ext(at) == ".slice" {
		return path.Base(at)
	}
	return ""
}

// planUse notes beside each limit that is lowered how much of it is in use.
func (p *Plan) planUse(host Reader, changes []cgroups.Change) ([]cgroups.Change, error) {
	var errs []error
	for i, c := range changes {
		file := cgroups.UseFile(c.File)
		if c.Op != cgroups.OpUpdate || file == "" || !lowers(c) {
			continue
		}
		use, err := host.ReadFile(c.Path, file)
		if err != nil && !notThere(err) {
			errs = append(errs, fmt.Errorf("reading the use of %s: %w", c.File, err))
		}
		changes[i].Use = use
	}
	return changes, errors.Join(errs...)
}

// unchanged counts the cgroups that nothing is done to.
func (p *Plan) unchanged() int {
	touched := map[string]bool{}
	for _, c := range p.Changes() {
		touched[c.Path] = true
	}
	n := 0
	for _, cg := range p.Tree.Cgroups {
		if live, ok := p.Live[cg.Path]; ok && live.Exists && !touched[cg.Path] {
			n++
		}
	}
	return n
}
