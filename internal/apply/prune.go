package apply

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kqos/kqos/internal/cgroups"
)

// planPrune plans the removal of pod cgroups of kqos's own that are not wanted:
// those right below kubepods and its tiers. Whatever something lives in, or
// another made, is left and told.
func (p *Plan) planPrune(host Reader) ([]cgroups.Change, error) {
	var changes []cgroups.Change
	var errs []error
	for i := range p.Tree.Cgroups {
		cg := &p.Tree.Cgroups[i]
		if !holdsPods(cg) || !p.Live[cg.Path].Exists {
			continue
		}
		pods, err := podsBelow(host, cg.Path)
		errs = append(errs, err)
		for _, pod := range pods {
			if p.wanted(pod.at) {
				continue
			}
			change, err := p.removal(host, pod.at, "no wanted pod has this cgroup")
			errs = append(errs, err)
			changes = append(changes, change...)
		}
	}
	return changes, errors.Join(errs...)
}

// removal plans to remove a cgroup, or withholds it and says what holds it.
func (p *Plan) removal(host Reader, at, why string) ([]cgroups.Change, error) {
	held, err := host.Holds(at)
	if err != nil {
		return nil, err
	}
	change := cgroups.Change{Op: cgroups.OpRemove, Path: at, Why: why}
	if held != "" {
		p.Withheld = append(p.Withheld, Withheld{Change: change, Reason: held})
		return nil, nil
	}
	return []cgroups.Change{change}, nil
}

// planRemoval plans to remove the wanted tree as far as it is kqos's own, from
// the leaves up. A cgroup that is held keeps all above it. A reserved cgroup
// that another made, such as system.slice, was never of that tree: it is only
// noted.
func (p *Plan) planRemoval(host Reader) error {
	var changes []cgroups.Change
	var errs []error
	for i := range p.Tree.Cgroups {
		cg := &p.Tree.Cgroups[i]
		if live, ok := p.Live[cg.Path]; !ok || !live.Exists {
			continue
		}
		if cg.Level == cgroups.LevelReserved && !p.Live[cg.Path].Marked {
			p.Notes = append(p.Notes, fmt.Sprintf("reserved cgroup %s was not made by kqos: it stays, and so do its limits (--undo takes a saved plan back)", cg.Path))
			continue
		}
		change, err := p.removal(host, cg.Path, "--remove")
		errs = append(errs, err)
		changes = append(changes, change...)
	}
	p.Steps = p.order(p.index(), p.withhold(changes))
	return errors.Join(errs...)
}

func (p *Plan) wanted(at string) bool {
	return slices.ContainsFunc(p.Tree.Cgroups, func(cg cgroups.Cgroup) bool { return cg.Path == at })
}
