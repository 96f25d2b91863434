package apply

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/kqos/kqos/internal/cgroups"
)

// findDelegated asks of the cgroups that differ, and of all above them, which
// systemd has delegated. Where nothing differs nothing is asked.
func (p *Plan) findDelegated(host Reader, changes []cgroups.Change) error {
	p.delegated = map[string]bool{}
	var errs []error
	for _, c := range changes {
		for at := range lineage(c.Path) {
			if _, asked := p.delegated[at]; asked {
				break // and so were all above it
			}
			delegated, err := host.Delegated(at)
			errs = append(errs, err)
			p.delegated[at] = delegated
		}
	}
	return errors.Join(errs...)
}

// lineage yields a path and all above it, up to the root.
func lineage(at string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for yield(at) && at != "/" && at != "." {
			at = path.Dir(at)
		}
	}
}

// underDelegation holds back what only one other may write: below a delegated
// cgroup whoever was given it, and of that cgroup's own files systemd. What kqos
// may remove bears its mark, wherever it lies.
//
// systemd: docs/CGROUP_DELEGATION.md, "The Single-Writer Rule" and "Delegation".
func (p *Plan) underDelegation(cg *cgroups.Cgroup, c cgroups.Change) string {
	if c.Op == cgroups.OpRemove {
		return ""
	}
	for at := range lineage(c.Path) {
		switch {
		case !p.delegated[at]:
		case at == c.Path && c.File != subtreeControl:
			if p.Tree.Driver != cgroups.Systemd || cg.Unit == "" {
				return "systemd has delegated what lies below this cgroup and keeps its own limits, as properties of its unit (systemctl set-property)"
			}
		case !p.given(at):
			return fmt.Sprintf("systemd has delegated %s (Delegate=), and only who was given it writes there: run kqos in that unit, or have cgroupRoot lie in it", at)
		}
	}
	return ""
}

// given says whether a delegated cgroup is kqos's to write below: it runs there,
// or the configuration has the whole tree there.
func (p *Plan) given(at string) bool {
	return within(p.Tree.Root(), at) || slices.ContainsFunc(p.options.Self, func(self string) bool { return within(self, at) })
}

// granted says whether a change lies where systemd has left the writing to kqos.
func (p *Plan) granted(c cgroups.Change) bool {
	for at := range lineage(c.Path) {
		if p.delegated[at] && p.given(at) && (at != c.Path || c.File == subtreeControl) {
			return true
		}
	}
	return false
}

// managed holds back what is systemd's to change, but for what it has delegated
// to kqos.
func (p *Plan) managed(cg *cgroups.Cgroup, c cgroups.Change) string {
	top := topOf(c.Path)
	if (top == "system.slice" || top == "system") && p.options.SystemdRuns && cg.Unit == "" && !p.granted(c) {
		return "systemd manages this cgroup: change it through --driver systemd"
	}
	return ""
}
