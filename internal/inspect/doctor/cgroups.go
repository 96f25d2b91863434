package doctor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kqos/kqos/internal/cgroups"
)

// mount is where the kubelet looks for cgroups, whatever the host's root.
const mount = "/sys/fs/cgroup"

// Cgroups is the host's tree as far as the checks ask for it.
type Cgroups struct {
	// Version is 1 or 2.
	Version int
	// Mounts are the v1 hierarchies: the folder below the cgroup mount by
	// controller, systemd for the named one.
	Mounts map[string]string
	// Groups are the cgroups that were looked for, by path, the root included.
	Groups map[string]*Group
	// Live are the paths of all cgroups of pods and containers.
	Live []string
}

// Group is one cgroup.
type Group struct {
	// In names the v1 controllers in whose hierarchies the folder stands; on v2 it
	// holds one word, and is empty for a cgroup that does not exist.
	In []string
	// Controllers may be used by it, Enabled by what is below it (v2).
	Controllers, Enabled []string
	// Tasks counts the processes in it and below it.
	Tasks int
	// Memory is what it uses in bytes without page cache that nobody touched
	// lately, PIDs how many tasks it counts; nil when the kernel does not tell.
	Memory, PIDs *int64
	// Waits is the share of the last 10 seconds, in percent, in which some of its
	// tasks waited for a CPU; 0 when the kernel does not tell.
	Waits float64
	// High is memory.high in bytes, nil when there is none.
	High *int64
	// Throttled and Periods are those of cpu.stat since it was made.
	Throttled, Periods int64
}

// group is never nil.
func (c *Cgroups) group(at string) *Group {
	if g := c.Groups[at]; g != nil {
		return g
	}
	return &Group{}
}

// lacking are the controllers that the kubelet wants of a v2 cgroup, that the
// root has and the cgroup has not.
//
// kubelet v1.37: cm/cgroup_v2_manager_linux.go Validate.
func (c *Cgroups) lacking(g *Group) []string {
	return slices.DeleteFunc(cgroups.Controllers(), func(controller string) bool {
		return !slices.Contains(c.group("/").Controllers, controller) || slices.Contains(g.Controllers, controller)
	})
}

// validate says with the kubelet's words why a cgroup is not fit for it, and
// what is missing: controllers on v2, folders on v1.
//
// kubelet v1.37: cm/cgroup_v2_manager_linux.go and cgroup_v1_manager_linux.go
// Validate.
func (c *Cgroups) validate(name cgroups.Name, driver string) (missing []string, err error) {
	at, err := name.Path(driver)
	if err != nil {
		return nil, err
	}
	g := c.group(at)
	if c.Version == 1 {
		for _, controller := range cgroups.Hierarchies() {
			folder, mounted := c.Mounts[controller]
			if mounted && !slices.Contains(g.In, controller) {
				missing = append(missing, path.Join(mount, folder, at))
			}
		}
		if missing != nil {
			return slices.Compact(missing), fmt.Errorf("cgroup %q has some missing paths: %v", []string(name), strings.Join(missing, ", "))
		}
		return nil, nil
	}
	if len(g.In) == 0 {
		file := path.Join(mount, at, "cgroup.controllers")
		return []string{path.Dir(file)}, fmt.Errorf("could not read controllers for cgroup %q: open %s: no such file or directory", []string(name), file)
	}
	if missing = c.lacking(g); len(missing) > 0 {
		return missing, fmt.Errorf("cgroup %q has some missing controllers: %v", []string(name), strings.Join(missing, ", "))
	}
	return nil, nil
}

// ancestors are the paths above one, from the root down.
func ancestors(at string) []string {
	var up []string
	for at != "/" {
		at = path.Dir(at)
		up = append(up, at)
	}
	slices.Reverse(up)
	return up
}
