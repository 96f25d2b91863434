package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	oc "github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/fs"
	"github.com/opencontainers/cgroups/systemd"
	"golang.org/x/sys/unix"

	"github.com/kqos/kqos/internal/cgroups"
)

// Driver works on the cgroups of this host. It is not safe for concurrent use.
type Driver struct {
	kind string
	// mounts maps each v1 hierarchy by the name of a controller, or "" for v2, to
	// the folder of its root.
	mounts map[string]string
	// primary is the hierarchy whose folder bears the lock.
	primary string
	// missing are controllers that live on the other half of a hybrid host.
	missing map[string]bool
	files   descriptors
}

// Open finds the hierarchies of this host. It refuses when the host's tree is
// not the one at /sys/fs/cgroup, when the version is another one, and when
// systemd is asked for and not running.
func Open(o Options) (*Driver, error) {
	if err := sameTree(o.HostRoot); err != nil {
		return nil, err
	}
	version := 1
	if oc.IsCgroup2UnifiedMode() {
		version = 2
	}
	if o.Version != version {
		return nil, fmt.Errorf("this host has cgroup v%d, so v%d can only be planned: use --dry-run", version, o.Version)
	}
	if o.Kind == Systemd && !systemd.IsRunningSystemd() {
		return nil, fmt.Errorf("driver systemd: systemd does not run on this host (no /run/systemd/system); use --driver cgroupfs")
	}
	d := &Driver{kind: o.Kind, files: newDescriptors()}
	if version == 2 {
		d.mounts = map[string]string{"": mountpoint}
		return d, nil
	}
	return d, d.findHierarchies()
}

// Close closes the control files that are kept open.
func (d *Driver) Close() { d.files.close() }

// Here tells whether the cgroups of a host root are those that Open works on,
// and not captured or mounted elsewhere.
func Here(hostRoot string) (bool, error) {
	there, err := os.Stat(filepath.Join(hostRoot, mountpoint))
	if err != nil {
		return false, fmt.Errorf("looking for the host's cgroups: %w", err)
	}
	here, err := os.Stat(mountpoint)
	if err != nil && !os.IsNotExist(err) {
		return false, fmt.Errorf("looking for the host's cgroups: %w", err)
	}
	return err == nil && os.SameFile(here, there), nil
}

// sameTree refuses a captured or relocated root.
func sameTree(hostRoot string) error {
	here, err := Here(hostRoot)
	if err != nil {
		return err
	}
	if !here {
		return fmt.Errorf("the cgroups below --host-root %s are not those at %s: only a live host's tree at that very path can be written (mount it there), any other only planned with --dry-run", hostRoot, mountpoint)
	}
	return nil
}

// findHierarchies asks the library where each v1 hierarchy is mounted.
func (d *Driver) findHierarchies() error {
	root, err := fs.NewManager(&oc.Cgroup{Path: "/", Resources: &oc.Resources{SkipDevices: true}}, nil)
	if err != nil {
		return fmt.Errorf("finding the cgroup v1 hierarchies: %w", err)
	}
	d.mounts = root.GetPaths()
	// Device rules are the CRI runtime's: the kubelet makes no folder there.
	delete(d.mounts, "devices")
	// A hierarchy that holds processes of any host is enough to lock and to
	// begin with; memory is the one that no kubelet starts without.
	for _, name := range []string{"memory", "cpu", "pids", "cpuset"} {
		if _, ok := d.mounts[name]; ok {
			d.primary = name
			break
		}
	}
	if d.primary == "" {
		return fmt.Errorf("finding the cgroup v1 hierarchies: none of memory, cpu, pids, cpuset is mounted below %s", mountpoint)
	}
	d.missing = map[string]bool{}
	if unified, ok := d.mounts[""]; ok {
		text, err := oc.ReadFile(unified, "cgroup.controllers")
		if err != nil {
			return fmt.Errorf("reading the controllers of the v2 hierarchy: %w", err)
		}
		for c := range strings.FieldsSeq(text) {
			d.missing[c] = true
		}
	}
	return nil
}

// v2 says whether there is one hierarchy only.
func (d *Driver) v2() bool { return d.primary == "" }

// folder is the cgroup's folder that bears intents and the lock.
func (d *Driver) folder(path string) string { return filepath.Join(d.mounts[d.primary], path) }

// folders are all folders of a cgroup, the primary one first.
func (d *Driver) folders(path string) []string {
	all := []string{d.folder(path)}
	for _, m := range d.mounts {
		if f := filepath.Join(m, path); !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	slices.Sort(all[1:])
	return all
}

// paths are the folders of a cgroup as the library wants them.
func (d *Driver) paths(path string) map[string]string {
	paths := make(map[string]string, len(d.mounts))
	for name, m := range d.mounts {
		paths[name] = filepath.Join(m, path)
	}
	return paths
}

// locate gives the folder and name of a control file.
func (d *Driver) locate(path, key string) (folder, file string, err error) {
	controller, file := cgroups.SplitFile(key)
	if d.v2() {
		return d.folder(path), file, nil
	}
	m, ok := d.mounts[controller]
	if !ok {
		return "", "", &ControllerMissingError{Controller: controller, Elsewhere: d.missing[controller]}
	}
	return filepath.Join(m, path), file, nil
}

// isFolder says whether f is a folder itself, not a link to one.
func isFolder(f string) (bool, error) {
	var st unix.Stat_t
	switch err := unix.Lstat(f, &st); err {
	case nil:
	case unix.ENOENT:
		return false, nil
	default:
		return false, fmt.Errorf("looking at %s: %w", f, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return false, fmt.Errorf("%s is not a folder but stands where a cgroup should: remove it", f)
	}
	return true, nil
}

// noLinks refuses a cgroup one of whose ancestors below the mount is a link.
func noLinks(mount, path string) error {
	f := mount
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		f = filepath.Join(f, part)
		ok, err := isFolder(f)
		if err != nil {
			return err
		}
		if !ok {
			return nil
		}
	}
	return nil
}
