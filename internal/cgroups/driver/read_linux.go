package driver

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/kqos/kqos/internal/cgroups"
)

// Read gives the state of a cgroup and of those control files that it is wanted
// to have or that are unknown. A second Read of a cgroup that is as it was costs
// one pread per file; its Files are not to be changed.
func (d *Driver) Read(cg *cgroups.Cgroup) (cgroups.Live, error) {
	if live, ok := d.files.again(cg); ok {
		return live, nil
	}
	if err := checkPath(cg.Path); err != nil {
		return cgroups.Live{}, err
	}
	d.files.forget(cg.Path)
	live := cgroups.Live{Files: make(map[string]string, len(cg.Files)+len(cg.Unknown)), PageSize: uint64(os.Getpagesize())}
	for key := range cg.Files {
		if err := d.readFile(&live, cg.Path, key); err != nil {
			return live, err
		}
	}
	for key := range cg.Unknown {
		if _, ok := live.Files[key]; ok {
			continue
		}
		if err := d.readFile(&live, cg.Path, key); err != nil {
			return live, err
		}
	}
	var err error
	live.Exists, live.Marked, err = d.look(cg.Path)
	if g, ok := d.files.groups[cg.Path]; ok {
		if err != nil || !live.Exists {
			d.files.forget(cg.Path)
		}
		g.live = live
	}
	return live, err
}

// readFile adds a control file to what is known of a cgroup, if there is one.
func (d *Driver) readFile(live *cgroups.Live, path, key string) error {
	folder, file, err := d.locate(path, key)
	if _, missing := errors.AsType[*ControllerMissingError](err); missing {
		return nil // the plan names missing controllers once, not per file
	}
	if err != nil {
		return err
	}
	text, err := d.files.read(path, key, folder, file)
	switch {
	case err == nil:
		live.Files[key] = text
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ENODEV), errors.Is(err, unix.EOPNOTSUPP):
	default:
		return fmt.Errorf("reading %s of cgroup %s: %w", key, path, err)
	}
	return nil
}

// ReadFile reads one control file. It returns an error that is os.ErrNotExist
// when the cgroup or the file does not exist.
func (d *Driver) ReadFile(path, key string) (string, error) {
	folder, file, err := d.locate(path, key)
	if err != nil {
		return "", err
	}
	text, err := d.files.read("", key, folder, file)
	if errors.Is(err, unix.ENODEV) {
		err = os.ErrNotExist
	}
	if err != nil {
		return "", fmt.Errorf("reading %s of cgroup %s: %w", key, path, err)
	}
	return text, nil
}

// look tells whether a cgroup exists in all hierarchies that the kubelet needs
// and whether kqos made all of its folders. A cgroup that lacks a folder counts
// as missing, and is made whole by Create.
//
// kubelet v1.37: cm/cgroup_v1_manager_linux.go Validate
func (d *Driver) look(path string) (exists, ours bool, err error) {
	exists, ours = true, true
	found := false
	for name, m := range d.mounts {
		folder := m + path
		var ok bool
		if ok, err = isFolder(folder); err != nil {
			return false, false, err
		}
		if !ok {
			exists = exists && !d.needs(name)
			continue
		}
		found = true
		if ours {
			if ours, err = d.made(folder, path); err != nil {
				return false, false, err
			}
		}
	}
	if found && !ours {
		if ours, err = d.unfinished(path); err != nil {
			return false, false, err
		}
		// What was cut off is made again, which completes the marks.
		exists = exists && !ours
	}
	return exists, ours && found, nil
}

// needs says whether a cgroup must stand in a hierarchy to exist.
func (d *Driver) needs(hierarchy string) bool {
	return d.v2() || slices.Contains(cgroups.Hierarchies(), strings.TrimPrefix(hierarchy, "name="))
}

// Children lists the cgroups right below path, by name, in all hierarchies.
// There are none below a cgroup that does not exist.
func (d *Driver) Children(path string) ([]string, error) {
	var names []string
	for _, folder := range d.folders(path) {
		entries, err := os.ReadDir(folder)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("listing the children of cgroup %s: %w", path, err)
		}
		for _, e := range entries {
			if e.IsDir() {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Controllers lists what a cgroup may use and what it hands down to its
// children. On v1 every mounted controller reaches every cgroup. Both lists are
// empty for a v2 cgroup that does not exist.
func (d *Driver) Controllers(path string) (available, enabled []string, err error) {
	if !d.v2() {
		all := slices.Sorted(maps.Keys(d.mounts))
		return all, all, nil
	}
	folder := d.folder(path)
	have, err := d.files.reread(path, folder, "cgroup.controllers")
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ENODEV):
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("reading the controllers of cgroup %s: %w", path, err)
	}
	down, err := d.files.reread(path, folder, subtreeControl)
	if err != nil {
		return nil, nil, fmt.Errorf("reading which controllers cgroup %s hands down: %w", path, err)
	}
	return strings.Fields(have), strings.Fields(down), nil
}
