package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/machine"
)

// Cgroup is one cgroup of the node as it is.
type Cgroup struct {
	Path  string
	Level cgroups.Level
	// Pod is nil outside pods; where nobody knows its name, only the UID is set.
	Pod *cgroups.PodRef
	// Container is empty outside containers, for the sandbox, and where nobody
	// knows the name of ContainerID.
	Container, ContainerID string
	Usage                  Usage
	// Rate is the share of one CPU in use, nil without a sample.
	Rate  *float64
	Files map[string]string
	Drift []Drift
	// Writers names who wrote a file that is as wanted in more than one way.
	Writers map[string]string
	// Missing says that the cgroup is wanted and not there.
	Missing bool
}

// Placed is how the CPUs and the memory of one container lie on the machine.
type Placed struct {
	Exclusive
	Alignment
}

// Report is what an inspection found.
type Report struct {
	Cgroups   []Cgroup
	Leaks     []Leak
	Intruders []Intruder
	Placed    []Placed
	// Notes say what could not be told, and why.
	Notes []string
	// Sample is to be handed to the next inspection.
	Sample Sample
}

// Inspection is what to look at, and what to hold it against.
type Inspection struct {
	// Root is where the host's /proc is found.
	Root string
	// Hierarchy is the host's.
	Hierarchy *Hierarchy
	// Paths are the cgroups to show, parents before children.
	Paths  []string
	Owners *Owners
	// Reserved are the paths of cgroups that hold a reservation.
	Reserved []string
	// Want is what should be; without it no drift is told. Whole says that what is
	// wanted and lies outside Paths is missing.
	Want  *cgroups.Tree
	Whole bool
	// Unverified says that Want is of another version's rules than the kubelet's.
	Unverified bool
	// Machine is nil where it is unknown; then nothing is told of alignment.
	Machine *machine.Machine
	// Exclusive are CPUs by pod UID and container name.
	Exclusive map[string]map[string]cpuset.CPUSet
	// Before is an earlier sample to take rates from.
	Before Sample
}

// Run reads the node. It ends early, with a note, when ctx does.
func (i *Inspection) Run(ctx context.Context) *Report {
	r := &Report{}
	h := i.Hierarchy
	defer h.Close()
	if n := slices.IndexFunc(i.Paths, func(path string) bool { return path != "/" }); n >= 0 {
		h.learnPageSizes(i.Paths[n])
	}
	w := i.wants()
	after := Sample{at: make(map[string]reading, len(i.Paths)), uptime: uptime(i.Root)}
	live := after.uptime != "" && after.uptime != i.Before.uptime
	for n, path := range i.Paths {
		if err := ctx.Err(); err != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("stopped after %d of %d cgroups: %s", n, len(i.Paths), reason(err)))
			break
		}
		c := i.cgroup(path, w)
		if c.Usage.CPU != nil {
			now := reading{time.Now(), *c.Usage.CPU}
			after.at[path] = now
			if live {
				c.Rate = i.Before.rate(path, now)
			}
		}
		r.Cgroups = append(r.Cgroups, c)
	}
	r.Sample = after
	if ctx.Err() == nil {
		r.Cgroups = append(r.Cgroups, i.missing(w)...)
		r.Leaks = h.Leaks(i.Root, i.Paths, i.Owners)
		i.exclusive(ctx, r)
	}
	if err := h.Unreadable(); err != nil {
		r.Notes = append(r.Notes, err.Error())
	}
	return r
}

func reason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "the time was up (--timeout)"
	}
	return "interrupted"
}

// wanted finds what a live cgroup should be: containers by pod and name, since
// runtimes name their cgroups otherwise, all else by path.
type wanted struct {
	tree      *cgroups.Tree
	path      map[string]*cgroups.Cgroup
	container map[containerKey]*cgroups.Cgroup
	seen      map[*cgroups.Cgroup]bool
}

type containerKey struct{ uid, name string }

func (i *Inspection) wants() *wanted {
	w := &wanted{
		tree: i.Want, path: map[string]*cgroups.Cgroup{},
		container: map[containerKey]*cgroups.Cgroup{}, seen: map[*cgroups.Cgroup]bool{},
	}
	if i.Want == nil {
		return w
	}
	for n := range i.Want.Cgroups {
		c := &i.Want.Cgroups[n]
		if c.Level == cgroups.LevelContainer {
			w.container[containerKey{c.Pod.UID, c.Container}] = c
		}
		w.path[c.Path] = c
	}
	return w
}

func (w *wanted) of(c *Cgroup) *cgroups.Cgroup {
	if want, ok := w.path[c.Path]; ok {
		return want
	}
	// What lies below a container's cgroup is the container's affair.
	if c.Level == cgroups.LevelContainer && Identify(parent(c.Path)).Level == cgroups.LevelPod && c.Container != "" {
		return w.container[containerKey{c.Pod.UID, c.Container}]
	}
	return nil
}

// cgroup reads one cgroup.
func (i *Inspection) cgroup(path string, w *wanted) Cgroup {
	id := Identify(path)
	c := Cgroup{Path: path, Level: id.Level, ContainerID: id.ContainerID, Container: i.Owners.Container(id.ContainerID)}
	if id.PodUID != "" {
		ref := i.Owners.Pod(id.PodUID)
		c.Pod = &ref
	}
	if slices.Contains(i.Reserved, path) {
		c.Level = cgroups.LevelReserved
	}
	c.Files = i.Hierarchy.files(path)
	c.Usage = i.Hierarchy.usage(path, c.Files)
	want := w.of(&c)
	if want == nil {
		return c
	}
	w.seen[want] = true
	if c.Level == "" || c.Level == cgroups.LevelContainer && c.Container == "" {
		c.Level, c.Container = want.Level, want.Container
	}
	if c.Pod == nil || c.Pod.Name == "" {
		c.Pod = want.Pod
	}
	c.Drift, c.Writers = i.Hierarchy.drift(want, path, c.Files, w.tree.Driver)
	for n := range c.Drift {
		c.Drift[n].Unverified = i.Unverified
	}
	return c
}

// missing lists the wanted cgroups that are not there. A container may have
// ended, and a pod that the kubelet does not tell of may be on no node yet.
func (i *Inspection) missing(w *wanted) []Cgroup {
	if i.Want == nil || !i.Whole {
		return nil
	}
	var all []Cgroup
	for n := range i.Want.Cgroups {
		c := &i.Want.Cgroups[n]
		if w.seen[c] || c.Level == cgroups.LevelContainer || c.Level == cgroups.LevelPod && !i.Owners.OnNode(c.Pod.UID) || i.Hierarchy.Exists(c.Path) {
			continue
		}
		all = append(all, Cgroup{Path: c.Path, Level: c.Level, Pod: c.Pod, Missing: true, Files: map[string]string{}, Drift: []Drift{missing(c, i.Unverified)}})
	}
	return all
}
