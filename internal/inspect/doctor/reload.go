package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/inspect"
	"github.com/kqos/kqos/internal/nodeapi"
)

// Reload is a control file that the next daemon-reload of systemd would change.
type Reload struct {
	// Path is the cgroup's and Unit that of systemd which holds it.
	Path, Unit string
	// File reads Have, and systemd writes Sets into it.
	File, Have, Sets string
	// Delegated says that the unit has Delegate=yes.
	Delegated bool
}

// readReloads holds the files of the kubelet's cgroups against what systemd
// holds of their units. ReloadsKnown stays false where systemd does not answer.
func (f *Facts) readReloads(ctx context.Context, h *inspect.Hierarchy, sockets []string) {
	if f.Host == nil || !f.Host.SystemdRuns || f.Cgroups == nil || len(sockets) == 0 {
		return
	}
	var paths, names []string
	for _, at := range slices.Sorted(maps.Keys(f.Cgroups.Groups)) {
		if unit := cgroups.UnitOf(at); unit != "" {
			paths, names = append(paths, at), append(names, unit)
		}
	}
	units, err := nodeapi.Units(ctx, sockets, names)
	f.ReloadsKnown = err == nil
	for n, at := range paths {
		u, known := units[names[n]]
		if !known {
			continue
		}
		f.Reloads = append(f.Reloads, reloads(at, u, f.Cgroups.Version, func(file string) (string, error) { return h.Read(at, file) })...)
	}
}

// reloads are those of one unit.
func reloads(at string, u nodeapi.Unit, version int, read func(file string) (string, error)) []Reload {
	var found []Reload
	held := cgroups.Reloaded(version, u.Properties)
	for _, file := range slices.Sorted(maps.Keys(held)) {
		have, err := read(file)
		if err != nil || cgroups.Equal(file, held[file], have) {
			continue // the kernel or this cgroup has no such file
		}
		found = append(found, Reload{Path: at, Unit: u.Name, File: file, Have: have, Sets: held[file], Delegated: u.Delegated})
	}
	return found
}

// reloadResults tells each file that a daemon-reload would change.
func (f *Facts) reloadResults() []Result {
	var found []Result
	for _, r := range f.Reloads {
		text := fmt.Sprintf("%s of %s reads %q, and systemd holds %q: a daemon-reload writes that", r.File, r.Path, r.Have, r.Sets)
		if r.Delegated && r.File == "cpuset.cpus" {
			text += ". The unit is delegated and holds a cpuset in its file only (systemd/systemd#40438)"
		}
		fix := fmt.Sprintf("have systemd hold it: systemctl set-property --runtime %s %s=VALUE", r.Unit, property(r.File))
		found = append(found, Result{Status: Warn, Message: text, Fix: fix})
	}
	return found
}

// property is how systemctl names what D-Bus names otherwise.
func property(file string) string {
	if name := cgroups.PropertyOf(file); name != "CPUQuotaPerSecUSec" {
		return name
	}
	return "CPUQuota"
}
