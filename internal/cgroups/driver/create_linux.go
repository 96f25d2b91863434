package driver

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	oc "github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/manager"
	"golang.org/x/sys/unix"

	"github.com/kqos/kqos/internal/cgroups"
)

// Create makes a cgroup whose parent exists, in every hierarchy, and marks what
// it made. What already stands keeps its owner. A Create that was cut off is
// finished by the next.
func (d *Driver) Create(cg *cgroups.Cgroup) error {
	if err := checkPath(cg.Path); err != nil {
		return err
	}
	fresh, err := d.absent(cg.Path)
	if err != nil {
		return fmt.Errorf("creating cgroup %s: %w", cg.Path, err)
	}
	if err := d.checkParent(cg.Path); err != nil {
		return fmt.Errorf("creating cgroup %s: %w", cg.Path, err)
	}
	lasts, err := d.lasts(cg, fresh)
	if err != nil {
		return fmt.Errorf("creating cgroup %s: %w", cg.Path, err)
	}
	if err := d.intend(cg.Path); err != nil {
		return err
	}
	d.files.forget(cg.Path)
	// What was made of a cgroup before a failure is marked too, for the next run
	// to know it as its own. Where that fails, the intent stays to tell so.
	err = d.make(cg, lasts)
	if marks := d.setMarks(fresh); err != nil || marks != nil {
		err = errors.Join(err, marks)
		if marks == nil {
			err = errors.Join(err, d.done(cg.Path))
		}
		return fmt.Errorf("creating cgroup %s: %w", cg.Path, err)
	}
	return d.done(cg.Path)
}

// absent lists the folders that kqos may mark once they stand: those that do
// not exist yet, and all of them when a killed kqos was making this cgroup.
func (d *Driver) absent(p string) ([]string, error) {
	cut, err := d.unfinished(p)
	if err != nil {
		return nil, err
	}
	var fresh []string
	for _, folder := range d.folders(p) {
		there, err := isFolder(folder)
		if err != nil {
			return nil, err
		}
		if !there || cut {
			fresh = append(fresh, folder)
		}
	}
	return fresh, nil
}

// lasts says whether a cgroup is to outlive a reboot by unit files of kqos's: a
// reserved slice is, but for one such as system.slice that another makes and that
// only lacks folders. A unit file would take the place of its own.
func (d *Driver) lasts(cg *cgroups.Cgroup, fresh []string) (bool, error) {
	if d.kind != Systemd || cg.Unit == "" || cg.Level != cgroups.LevelReserved {
		return false, nil
	}
	if len(fresh) == len(d.folders(cg.Path)) {
		return true, nil
	}
	foreign, err := d.foreignFolder(cg.Path)
	return foreign == "", err
}

// checkParent refuses what would make the library write above the parent or
// change a cgroup's type.
func (d *Driver) checkParent(p string) error {
	parent := path.Dir(p)
	for name, m := range d.mounts {
		if err := noLinks(m, parent); err != nil {
			return err
		}
		if name != "cpuset" {
			continue
		}
		// The library fills empty cpusets all the way up.
		cpus, err := oc.ReadFile(m+parent, "cpuset.cpus")
		if err == nil && strings.TrimSpace(cpus) == "" {
			return fmt.Errorf("cpuset.cpus of its parent %s is empty, so nothing could run in it: set it first", parent)
		}
	}
	if !d.v2() {
		return nil
	}
	kind, err := d.ReadFile(parent, "cgroup.type")
	if err == nil && kind != "domain" {
		return fmt.Errorf("its parent %s has cgroup.type %q, below which memory can't be limited; kqos never writes cgroup.type", parent, kind)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// make creates the folders, under systemd by starting a slice.
func (d *Driver) make(cg *cgroups.Cgroup, lasts bool) error {
	if lasts {
		if err := d.keepControllers(cg.Path, func() error { return d.startReserved(cg) }); err != nil {
			return err
		}
		if d.v2() {
			return nil
		}
		// On v1 the library makes the folders that systemd leaves out.
	}
	switch {
	case d.kind == Systemd && cg.Unit != "" && d.v2():
		if err := d.keepControllers(cg.Path, func() error { return startSlice(cg) }); err != nil {
			return err
		}
		// systemd makes the folder of a slice; one that it leaves out is made here.
		return mkdir(d.folder(cg.Path))
	case d.v2():
		return mkdir(d.folder(cg.Path))
	}
	m, err := manager.NewWithPaths(d.config(cg, &oc.Resources{SkipDevices: true}), d.paths(cg.Path))
	if err != nil {
		return err
	}
	// -1 makes the cgroup without moving a process into it.
	if err := m.Apply(-1); err != nil {
		return err
	}
	// The library does not tell that it could not make one in a named hierarchy.
	for _, folder := range d.folders(cg.Path) {
		if err := mkdir(folder); err != nil {
			return err
		}
	}
	return nil
}

func mkdir(folder string) error {
	for {
		switch err := unix.Mkdir(folder, 0o755); err {
		case unix.EINTR:
		case nil, unix.EEXIST:
			return nil
		default:
			return &os.PathError{Op: "mkdir", Path: folder, Err: err}
		}
	}
}

// config describes a cgroup to the library.
func (d *Driver) config(cg *cgroups.Cgroup, r *oc.Resources) *oc.Cgroup {
	if d.kind != Systemd || cg.Unit == "" {
		return &oc.Cgroup{Path: cg.Path, Resources: r}
	}
	return &oc.Cgroup{Name: cg.Unit, Parent: parentSlice(cg.Path), Systemd: true, Resources: r}
}

// keepControllers does what makes systemd rearrange cgroups, and then hands
// those controllers down again that it took away from the children of an
// ancestor: systemd keeps on only what its own units need.
//
// systemd: src/basic/cgroup-util.c cg_enable_everywhere
func (d *Driver) keepControllers(p string, do func() error) error {
	if !d.v2() {
		return do()
	}
	before := map[string][]string{}
	for up := path.Dir(p); ; up = path.Dir(up) {
		_, enabled, err := d.Controllers(up)
		if err != nil {
			return err
		}
		before[up] = enabled
		if up == "/" {
			break
		}
	}
	if err := do(); err != nil {
		return err
	}
	for _, up := range slices.Sorted(maps.Keys(before)) { // parents first
		_, now, err := d.Controllers(up)
		if err != nil {
			return err
		}
		for _, c := range before[up] {
			if slices.Contains(now, c) {
				continue
			}
			if err := d.enable(up, "+"+c); err != nil {
				return err
			}
		}
	}
	return nil
}
