package apply

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kqos/kqos/internal/cgroups"
)

// MakeUndo plans to take changes back that were planned or made before: files
// get their old value where they still read the new one, cgroups that were made
// are removed where nothing lives in them. What has been changed by another
// since is left and told.
func MakeUndo(tree cgroups.Tree, changes []cgroups.Change, host Reader, o Options) (*Plan, error) {
	p := &Plan{Tree: tree, Live: cgroups.LiveTree{}, options: o, memory: NewMemory()}
	cgroup := p.index()
	var errs []error
	var back []cgroups.Change
	for _, c := range slices.Backward(changes) {
		live, known := p.Live[c.Path]
		if !known {
			asked := *cgroup(c.Path)
			asked.Files = filesOf(changes, c.Path)
			var err error
			if live, err = host.Read(&asked); err != nil {
				errs = append(errs, err)
				continue
			}
			p.Live[c.Path] = live
		}
		if !live.Exists && c.Op != cgroups.OpRemove {
			continue
		}
		inverse, err := p.inverse(host, c, live)
		errs = append(errs, err)
		back = append(back, inverse...)
	}
	back, err := p.planUse(host, back)
	errs = append(errs, p.findDelegated(host, back))
	p.Steps = p.order(cgroup, p.withhold(back))
	return p, errors.Join(append(errs, err)...)
}

// filesOf are the files of a cgroup that changes name.
func filesOf(changes []cgroups.Change, at string) map[string]string {
	files := map[string]string{}
	for _, c := range changes {
		if c.Path == at && c.File != "" && c.File != subtreeControl {
			files[c.File] = c.To
		}
	}
	return files
}

// inverse gives the change that takes one back, if any.
func (p *Plan) inverse(host Reader, c cgroups.Change, live cgroups.Live) ([]cgroups.Change, error) {
	hold := func(reason string) ([]cgroups.Change, error) {
		p.Withheld = append(p.Withheld, Withheld{Change: c, Reason: reason})
		return nil, nil
	}
	switch {
	case c.Op == cgroups.OpCreate:
		return p.removal(host, c.Path, "--undo of its creation")
	case c.Op == cgroups.OpRemove:
		return hold("a plan does not hold the settings of a removed cgroup: apply the manifests that it came from")
	case c.File == subtreeControl || c.From == "":
		// Controllers are never disabled; files of a cgroup that was made go with it.
		return nil, nil
	}
	now, ok := live.Files[c.File]
	switch {
	case !ok || live.Holds(c.File, c.From):
		return nil, nil
	case !live.Holds(c.File, c.To):
		return hold(fmt.Sprintf("it reads %s now, which is neither what the plan wrote nor what was there before", now))
	}
	return []cgroups.Change{{
		Op: cgroups.OpUpdate, Path: c.Path, File: c.File, From: now, To: c.From, Why: "--undo",
	}}, nil
}
