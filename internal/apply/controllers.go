package apply

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kqos/kqos/internal/cgroups"
)

// subtreeControl names the controllers that a v2 cgroup hands to its children.
const subtreeControl = "cgroup.subtree_control"

// planControllers plans +controller from the mount's root down to the parent of
// each wanted cgroup, for those controllers that the tree needs, and takes out
// the files whose controller the host lacks. It is the only write above the
// wanted cgroups.
//
// kubelet v1.37: cm/cgroup_v2_manager_linux.go Validate wants cpu, cpuset,
// memory, hugetlb and pids wherever the root has them.
func (p *Plan) planControllers(host Reader, changes []cgroups.Change) (enable, rest []cgroups.Change, err error) {
	offered, _, err := host.Controllers("/")
	if err != nil {
		return nil, changes, fmt.Errorf("reading the host's controllers: %w", err)
	}
	wanted := p.wantedControllers(offered)
	var errs []error
	for _, at := range p.parents() {
		available, enabled, err := host.Controllers(at)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if available == nil { // not there yet: its children get what it will get
			available = offered
		}
		var missing []string
		for _, c := range wanted {
			switch {
			case slices.Contains(enabled, c):
			case at != "/" && !slices.Contains(available, c) && !handsDown(enable, path.Dir(at), c):
				p.Notes = append(p.Notes, fmt.Sprintf("controller %s does not reach cgroup %s", c, at))
			default:
				missing = append(missing, "+"+c)
			}
		}
		if len(missing) > 0 {
			enable = append(enable, cgroups.Change{
				Op: cgroups.OpUpdate, Path: at, File: subtreeControl, From: strings.Join(enabled, " "),
				To: strings.Join(missing, " "), Why: "controllers that the kubelet's check wants in its children",
			})
		}
	}
	return enable, p.dropUnoffered(host, changes, offered), errors.Join(errs...)
}

// handsDown says whether the plan hands a controller down from a cgroup.
func handsDown(enable []cgroups.Change, at, controller string) bool {
	return slices.ContainsFunc(enable, func(c cgroups.Change) bool {
		return c.Path == at && slices.Contains(strings.Fields(c.To), "+"+controller)
	})
}

// wantedControllers are those of the kubelet's check and those of the tree's
// files, as far as the host has them.
func (p *Plan) wantedControllers(offered []string) []string {
	wanted := cgroups.Controllers()
	for _, cg := range p.Tree.Cgroups {
		for file := range cg.Files {
			if c, _ := cgroups.SplitFile(file); !slices.Contains(wanted, c) {
				wanted = append(wanted, c)
			}
		}
	}
	slices.Sort(wanted)
	return slices.DeleteFunc(wanted, func(c string) bool { return !slices.Contains(offered, c) })
}

// parents are all ancestors of wanted cgroups, from the root down.
func (p *Plan) parents() []string {
	seen := map[string]bool{}
	var all []string
	for _, cg := range p.Tree.Cgroups {
		var up []string
		for at := path.Dir(cg.Path); !seen[at]; at = path.Dir(at) {
			seen[at] = true
			up = append(up, at)
		}
		slices.Reverse(up)
		all = append(all, up...)
	}
	return all
}

// dropUnoffered takes out files of controllers that the host lacks, as the
// kubelet does for hugetlb, and notes each such controller once.
//
// kubelet v1.37: cm/cgroup_manager_linux.go maybeSetHugetlb
func (p *Plan) dropUnoffered(host Reader, changes []cgroups.Change, offered []string) []cgroups.Change {
	var noted []string
	return slices.DeleteFunc(changes, func(c cgroups.Change) bool {
		controller, _ := cgroups.SplitFile(c.File)
		if c.File == "" || controller == "cgroup" || slices.Contains(offered, controller) {
			return false
		}
		if !slices.Contains(noted, controller) {
			noted = append(noted, controller)
			p.Notes = append(p.Notes, lacking(host, c.File, controller)+": its files are left out")
		}
		return true
	})
}

// lacking says why a controller is not offered, as far as the host tells: on a
// hybrid one it may live in the other half.
func lacking(host Reader, file, controller string) string {
	if _, err := host.ReadFile("/", file); err != nil && !notThere(err) {
		return err.Error()
	}
	return "this host offers no controller " + controller
}
