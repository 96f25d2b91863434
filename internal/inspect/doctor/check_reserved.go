package doctor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/quantity"
)

// nearlyFull is the share of its reservation, in percent, from which a reserved
// cgroup is told: beyond it a burst of the node's own daemons meets the limit.
const nearlyFull = 80

// longWait is the share of time, in percent, from which waiting for a CPU is
// told: a kubelet that waits longer misses its deadlines.
const longWait = 20

func reservedCheck() Check {
	return Check{
		ID: "reserved-cgroups", Title: "the reserved cgroups exist, in every hierarchy, with all controllers",
		Explain: `With system-reserved or kube-reserved in enforceNodeAllocatable the kubelet writes
limits into cgroups that it never makes. One that is missing, or on v2 lacks a
controller, or on v1 lacks a folder in one hierarchy (cpuset and hugetlb are the
usual ones), ends its start. Under systemd only the base name counts, and only a
slice will do: a service such as kubelet.service becomes kubelet.service.slice.
Kubelet v1.37: cm/node_container_manager_linux.go enforceExistingCgroup.`,
		run: checkReserved,
	}
}

func reservedUseCheck() Check {
	return Check{
		ID: "reserved-use", Title: "the reserved cgroups hold the daemons, and have room",
		Explain: `A reserved cgroup without processes enforces nothing: the daemons that were meant
run somewhere else. One that uses more than 80 % of its memory or task
reservation is about to be throttled or killed by the limit that the kubelet
writes. Page cache that nobody touched lately is not counted. A reservation of CPU
is a weight: it is judged by how long the daemons wait.`,
		run: checkReservedUse,
	}
}

// enforcedGroups are the reserved cgroups to look at; where there are none to
// see, the result says so.
func (f *Facts) enforcedGroups() (groups []reservedGroup, none *Result) {
	groups = f.reservedGroups()
	switch {
	case len(groups) == 0:
		r := ok("no reserved cgroup is enforced")
		return nil, &r
	case f.Cgroups == nil:
		r := skip(noTree)
		return nil, &r
	}
	return groups, nil
}

func checkReserved(f *Facts) Result {
	groups, none := f.enforcedGroups()
	if none != nil {
		return *none
	}
	var found []Result
	for _, g := range groups {
		if r := f.reservedError(g); r != nil {
			found = append(found, *r)
		}
	}
	return worst(ok("%s found in every hierarchy", quantity.Count(len(groups), "reserved cgroup")), found)
}

// reservedError is nil when the kubelet can enforce the reservation.
func (f *Facts) reservedError(g reservedGroup) *Result {
	name := cgroups.ParseDriverName(f.Driver, g.cgroup)
	fail := func(text, fix string, evidence ...string) *Result {
		return &Result{
			Status: Fail, Message: fmt.Sprintf("Failed to enforce %s Cgroup Limits on %q: %s", g.title, g.cgroup, text),
			Fix: fix, Evidence: evidence,
		}
	}
	if f.reserved(g) == nil {
		return fail(fmt.Sprintf("%q cgroup is not configured properly", []string(name)),
			fmt.Sprintf("set %s, or take %s out of enforceNodeAllocatable", g.field, g.word))
	}
	missing, err := f.Cgroups.validate(name, f.Driver)
	at, bad := name.Path(f.Driver)
	if err == nil || bad == nil && f.handedByStart(at) {
		return nil
	}
	if bad != nil {
		return fail(bad.Error(), "name a slice in "+g.field+"Cgroup")
	}
	evidence := []string{fmt.Sprintf("%sCgroup: %s means %s under %s", g.field, g.cgroup, path.Join(mount, at), f.Driver)}
	for _, m := range missing {
		evidence = append(evidence, "missing: "+m)
	}
	fix := "kqos apply --create-reserved --config " + orFile(f.Config.Source) + ", or by hand:\n" + f.makeCgroup(at, missing)
	if strings.HasSuffix(g.cgroup, ".service") && f.Driver == cgroups.Systemd {
		fix = fmt.Sprintf("name a slice instead of the service %s: a kubelet under systemd can limit slices only", g.cgroup)
	}
	return fail(err.Error(), fix, evidence...)
}

// handedByStart tells whether a v2 cgroup that exists gets what controllers it
// lacks from the start itself: making kubepods, before reservations are
// enforced, hands all controllers down from the root to it.
//
// opencontainers/cgroups v0.1.0: fs2/create.go CreateCgroupPath.
func (f *Facts) handedByStart(at string) bool {
	if f.Cgroups.Version != 2 || len(f.Cgroups.group(at).In) == 0 || !f.Config.PerQOS() {
		return false
	}
	pods, err := cgroups.Root(f.Config.CgroupRoot, true).Path(f.Driver)
	return err == nil && slices.Contains(ancestors(pods), path.Dir(at))
}

func orFile(source string) string {
	if source == "" {
		return "FILE"
	}
	return source
}

// reserved is what is reserved for a group, nil for nothing at all.
func (f *Facts) reserved(g reservedGroup) corev1.ResourceList {
	r, _ := allocatable.ReadReservations(f.Config)
	if g.field == "systemReserved" {
		return r.System
	}
	return r.Kube
}

func checkReservedUse(f *Facts) Result {
	groups, none := f.enforcedGroups()
	if none != nil {
		return *none
	}
	var found []Result
	for _, g := range groups {
		at, err := cgroups.ParseDriverName(f.Driver, g.cgroup).Path(f.Driver)
		live := f.Cgroups.group(at)
		if err != nil || len(live.In) == 0 {
			continue // reserved-cgroups tells it
		}
		if live.Tasks == 0 {
			found = append(found, Result{
				Status: Warn, Message: fmt.Sprintf("%s is empty: %s of %s is enforced on nobody", at, g.field, g.word),
				Fix: fmt.Sprintf("run the daemons in it (Slice=%s in their units), or take %s out of enforceNodeAllocatable", path.Base(at), g.word),
			})
			continue
		}
		reserved := f.reserved(g)
		found = append(found, nearLimit(at, g, "memory", live.Memory, reserved, corev1.ResourceMemory)...)
		found = append(found, nearLimit(at, g, "tasks", live.PIDs, reserved, allocatable.ResourcePID)...)
		found = append(found, waiting(at, g, live.Waits, reserved)...)
	}
	return worst(ok("the reserved cgroups have processes and room"), found)
}

// waiting finds daemons that wait for a CPU. A reservation of CPU is a weight and
// no limit, so use beyond it says nothing; waiting does.
func waiting(at string, g reservedGroup, share float64, reserved corev1.ResourceList) []Result {
	cpu, set := reserved[corev1.ResourceCPU]
	if !set || share < longWait {
		return nil
	}
	return []Result{{
		Status: Warn, Message: fmt.Sprintf("daemons in %s waited for a CPU in %.0f %% of the last 10 seconds: the weight of %s.cpu is small", at, share, g.field),
		Fix:      fmt.Sprintf("raise %s.cpu", g.field),
		Evidence: []string{fmt.Sprintf("%s.cpu: %s", g.field, cpu.String())},
	}}
}

// nearLimit finds use beyond nearlyFull percent of the reservation.
func nearLimit(at string, g reservedGroup, what string, use *int64, reserved corev1.ResourceList, name corev1.ResourceName) []Result {
	limit, set := reserved[name]
	if !set || use == nil || limit.Value() <= 0 || strings.HasSuffix(g.word, "compressible") {
		return nil
	}
	percent := float64(*use) / float64(limit.Value()) * 100
	if percent <= nearlyFull {
		return nil
	}
	return []Result{{
		Status: Warn, Message: fmt.Sprintf("%s uses %.0f %% of the %s that %s reserves for it: the limit is near", at, percent, what, g.field),
		Fix:      fmt.Sprintf("raise %s.%s", g.field, name),
		Evidence: []string{fmt.Sprintf("%s of %s", resource.NewQuantity(*use, limit.Format), limit.String())},
	}}
}
