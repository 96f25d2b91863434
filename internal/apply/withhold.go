package apply

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kqos/kqos/internal/cgroups"
)

// withhold sorts out the changes that may not be made and gives the rest.
func (p *Plan) withhold(changes []cgroups.Change) []cgroups.Change {
	cgroup := p.index()
	p.refused = p.refusedResizes(cgroup, changes)
	var kept []cgroups.Change
	for _, c := range changes {
		if c.File == subtreeControl {
			continue // judged below, by whom it serves
		}
		if reason := p.reason(cgroup(c.Path), c); reason != "" {
			p.Withheld = append(p.Withheld, Withheld{Change: c, Reason: reason})
			continue
		}
		kept = append(kept, c)
	}
	for _, c := range changes {
		if c.File != subtreeControl || !p.serves(c.Path, kept) {
			continue
		}
		if reason := cmp.Or(p.managed(cgroup(c.Path), c), p.underDelegation(cgroup(c.Path), c)); reason != "" {
			p.Withheld = append(p.Withheld, Withheld{Change: c, Reason: reason})
			continue
		}
		kept = append(kept, c)
	}
	return kept
}

// serves says whether handing controllers down from a cgroup is needed by a
// change that is made below it, and allowed there.
func (p *Plan) serves(at string, kept []cgroups.Change) bool {
	if live, ok := p.Live[at]; ok && live.Exists && !live.Marked && !p.options.Adopt {
		return false
	}
	return slices.ContainsFunc(kept, func(c cgroups.Change) bool { return c.Path != at && within(c.Path, at) })
}

// within says whether a path is at or below another.
func within(p, above string) bool {
	return p == above || above == "/" || strings.HasPrefix(p, above+"/")
}

// reason tells why a change may not be made; "" lets it pass.
func (p *Plan) reason(cg *cgroups.Cgroup, c cgroups.Change) string {
	for _, rule := range []func(*cgroups.Cgroup, cgroups.Change) string{
		p.outside, p.managed, p.underDelegation, p.foreign, p.unreserved, p.kubeletWorks, p.ownAncestor, p.refusedResize, p.belowUse, p.unsettled, p.contended,
	} {
		if reason := rule(cg, c); reason != "" {
			return reason
		}
	}
	return ""
}

// outside holds back what is not of the wanted tree, and what belongs to
// systemd or to people who are logged in.
func (p *Plan) outside(_ *cgroups.Cgroup, c cgroups.Change) string {
	top := topOf(c.Path)
	if top == "init.scope" || top == "user.slice" {
		return fmt.Sprintf("kqos never touches /%s", top)
	}
	if c.Path == "/" {
		return "kqos never sets limits of the root cgroup"
	}
	return ""
}

// topOf is the first folder of an absolute path.
func topOf(p string) string { return strings.SplitN(p, "/", 3)[1] }

// foreign holds back what concerns a cgroup that kqos did not make, and all
// that lies below one in the wanted tree.
func (p *Plan) foreign(_ *cgroups.Cgroup, c cgroups.Change) string {
	// Removals are judged by Reader.Holds, and no flag overrides it.
	if p.options.Adopt || c.Op == cgroups.OpRemove {
		return ""
	}
	for at := c.Path; at != "/"; at = path.Dir(at) {
		// On v1 a cgroup may lack a hierarchy and still be somebody's in another.
		live, ok := p.Live[at]
		if ok && !live.Marked && (live.Exists || len(live.Files) > 0) {
			if at == c.Path {
				return "kqos did not make this cgroup; --adopt lets it be changed"
			}
			return fmt.Sprintf("kqos did not make %s above it; --adopt lets it work there", at)
		}
	}
	return ""
}

// unreserved holds back the making of cgroups that the kubelet wants to find.
func (p *Plan) unreserved(cg *cgroups.Cgroup, _ cgroups.Change) string {
	if cg.Level != cgroups.LevelReserved || p.Live[cg.Path].Exists || p.options.CreateReserved {
		return ""
	}
	return "it does not exist and the kubelet would refuse to start without it; --create-reserved makes it"
}

// kubeletWorks leaves pods to a kubelet that works below the root. Files of
// pods that it reports and is not about to change may be mended.
func (p *Plan) kubeletWorks(cg *cgroups.Cgroup, c cgroups.Change) string {
	k := p.options.Kubelet
	if k == nil || !ofPod(cg) {
		return ""
	}
	if c.Op != cgroups.OpUpdate || !p.Live[c.Path].Exists {
		return "a kubelet works below this root: it makes and removes the cgroups of pods itself"
	}
	if cg.Pod == nil {
		return "a kubelet works below this root and this pod is not one of those given"
	}
	state, ok := k.Pods[cg.Pod.UID]
	switch {
	case !ok:
		return "the kubelet does not report this pod"
	case state.Pending:
		return "the kubelet is about to resize or delete this pod"
	}
	return ""
}

// ofPod says whether a cgroup is a pod's or lies below one. A path that is not
// wanted is one of those to be pruned, which are pods'.
func ofPod(cg *cgroups.Cgroup) bool {
	return cg.Level == cgroups.LevelPod || cg.Level == cgroups.LevelContainer || cg.Level == ""
}

// ownAncestor holds back a lower limit on what kqos itself runs in.
func (p *Plan) ownAncestor(_ *cgroups.Cgroup, c cgroups.Change) string {
	if c.Op == cgroups.OpCreate || (c.Op == cgroups.OpUpdate && !lowers(c)) {
		return ""
	}
	for _, self := range p.options.Self {
		if within(self, c.Path) {
			return fmt.Sprintf("kqos itself runs in %s: it lowers no limit on its own ancestors", self)
		}
	}
	return ""
}

// refusedResize holds back all of a resize that the kubelet refuses.
func (p *Plan) refusedResize(cg *cgroups.Cgroup, c cgroups.Change) string {
	return p.refused[p.resized(cg, c)]
}

// belowUse holds back a limit below what is in use, when no flag says how to go
// about it. What v1 calls memory.limit_in_bytes the kernel guards itself.
func (p *Plan) belowUse(_ *cgroups.Cgroup, c cgroups.Change) string {
	if p.options.AllowOOM || c.Op != cgroups.OpUpdate || !lowers(c) || kernelRefuses(c.File) {
		return ""
	}
	if p.options.Squeeze && c.File == memoryMax {
		return ""
	}
	return tooMuch(c.File, c.Use, c.To)
}
