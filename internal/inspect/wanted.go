package inspect

import (
	"slices"

	"github.com/kqos/kqos/internal/cgroups"
)

// wanted finds what a live cgroup should be: containers by pod and name, since
// runtimes name their cgroups otherwise, all else by path.
type wanted struct {
	path      map[string]*cgroups.Cgroup
	container map[containerKey]*cgroups.Cgroup
	seen      map[*cgroups.Cgroup]bool
}

type containerKey struct{ uid, name string }

func (i *Inspection) wants() *wanted {
	w := &wanted{
		path:      map[string]*cgroups.Cgroup{},
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
	if c.Container == "" || !OfRuntime(c.Path) {
		return nil
	}
	return w.container[containerKey{c.Pod.UID, c.Container}]
}

// read reads one cgroup, whose parent was read before; nil for one that was not.
func (i *Inspection) read(path string, above *Cgroup) Cgroup {
	if above == nil || !i.Hierarchy.kernels {
		above = &Cgroup{}
	}
	c := Cgroup{Path: path, Files: i.Hierarchy.files(path, above.Files)}
	c.Usage = i.Hierarchy.usage(path, c.Files, &above.Usage)
	return c
}

// judge says whose a cgroup is, and holds its files against what is wanted.
func (i *Inspection) judge(c *Cgroup, w *wanted) {
	id := Identify(c.Path)
	c.Level, c.ContainerID, c.Container = id.Level, id.ContainerID, i.Owners.Container(id.ContainerID)
	c.Sandbox = i.Owners.Sandbox(id.ContainerID)
	c.Pod, c.Drift, c.Writers = nil, nil, nil
	if id.PodUID != "" {
		ref := i.Owners.Pod(id.PodUID)
		c.Pod = &ref
	}
	if slices.Contains(i.Reserved, c.Path) {
		c.Level = cgroups.LevelReserved
	}
	want := w.of(c)
	if want == nil {
		return
	}
	w.seen[want] = true
	if c.Level == "" || c.Level == cgroups.LevelContainer && c.Container == "" {
		c.Level, c.Container = want.Level, want.Container
	}
	if c.Pod == nil || c.Pod.Name == "" {
		c.Pod = want.Pod
	}
	c.Drift, c.Writers = i.drift(want, c.Path, c.Files)
	for n := range c.Drift {
		c.Drift[n].Unverified = i.Unverified
	}
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
