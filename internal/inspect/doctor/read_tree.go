package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/inspect"
)

// treeReader fills Cgroups from a host's tree.
type treeReader struct {
	*inspect.Hierarchy
	mount string
	into  *Cgroups
}

// namedCgroups are the paths of the cgroups that the configuration names.
func (f *Facts) namedCgroups() []string {
	var paths []string
	names := []cgroups.Name{cgroups.ParseName(f.Config.CgroupRoot)}
	for _, g := range f.reservedGroups() {
		names = append(names, cgroups.ParseDriverName(f.Driver, g.cgroup))
	}
	for _, name := range names {
		if at, err := name.Path(f.Driver); err == nil {
			paths = append(paths, at)
		}
	}
	return paths
}

// mounts finds the v1 hierarchies, the named one of systemd too.
func (r *treeReader) mounts() {
	if r.into.Version != 1 {
		return
	}
	r.into.Mounts = map[string]string{}
	for _, controller := range cgroups.Hierarchies() {
		if folder := r.Folder(controller); folder != "" {
			r.into.Mounts[controller] = folder
		}
	}
}

// read adds a cgroup, unless it does not exist.
func (r *treeReader) read(at string) {
	g := &Group{}
	for controller, folder := range r.into.Mounts {
		if isFolder(filepath.Join(r.mount, folder, at)) {
			g.In = append(g.In, controller)
		}
	}
	if r.into.Version == 2 && isFolder(filepath.Join(r.mount, at)) {
		g.In = []string{"unified"}
		g.Controllers, g.Enabled = r.words(at, "cgroup.controllers"), r.words(at, "cgroup.subtree_control")
	}
	if len(g.In) == 0 {
		return
	}
	slices.Sort(g.In)
	usage := r.Usage(at)
	g.PIDs, g.Memory, g.Waits = usage.PIDs, r.workingSet(at, usage.Memory), usage.Pressure["cpu"]
	if at != "/" {
		g.Tasks = r.tasks(at)
	}
	r.into.Groups[at] = g
}

// live adds a cgroup of a pod or container with what it waits for.
func (r *treeReader) live(at string) {
	level := inspect.Identify(at).Level
	if level != cgroups.LevelPod && level != cgroups.LevelContainer {
		return
	}
	r.into.Live = append(r.into.Live, at)
	g := &Group{In: []string{"live"}}
	usage := r.Usage(at)
	g.Memory = usage.Memory
	if text, err := r.Read(at, "memory.high"); err == nil {
		if high, err := strconv.ParseInt(text, 10, 64); err == nil {
			g.High = &high
		}
	}
	if usage.Periods != nil && usage.ThrottledPeriods != nil {
		g.Periods, g.Throttled = *usage.Periods, *usage.ThrottledPeriods
	}
	r.into.Groups[at] = g
}

// tasks counts the processes in the cgroup and below it.
func (r *treeReader) tasks(at string) int {
	count := 0
	for _, below := range r.Walk(at) {
		// Those that can't be listed belong to a threaded cgroup, whose processes
		// its domain lists.
		pids, _ := r.PIDs(below)
		count += len(pids)
	}
	return count
}

// workingSet is use without page cache that nobody touched lately, as the
// kubelet's stats have it.
//
// cadvisor: container/libcontainer/handler.go setMemoryStats.
func (r *treeReader) workingSet(at string, use *int64) *int64 {
	if use == nil {
		return nil
	}
	key, field := "memory.stat", "inactive_file "
	if r.into.Version == 1 {
		key, field = "memory/memory.stat", "total_inactive_file "
	}
	text, err := r.Read(at, key)
	if err != nil {
		return use
	}
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, field); found {
			idle, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if err == nil {
				left := max(*use-idle, 0)
				return &left
			}
		}
	}
	return use
}

func (r *treeReader) words(at, file string) []string {
	text, err := r.Read(at, file)
	if err != nil {
		return nil
	}
	return strings.Fields(text)
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
