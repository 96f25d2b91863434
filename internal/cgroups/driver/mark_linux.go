package driver

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	oc "github.com/opencontainers/cgroups"
	"golang.org/x/sys/unix"
)

// xattrSizeMax is XATTR_SIZE_MAX of the kernel (include/uapi/linux/limits.h).
const xattrSizeMax = 64 << 10

// hasMark says whether a folder bears markName. A process without CAP_SYS_ADMIN
// sees none.
func hasMark(folder string) (bool, error) {
	_, err := attribute(folder, markName)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOENT):
		return false, nil
	}
	return false, fmt.Errorf("reading the mark of %s: %w", folder, err)
}

// made says whether kqos made the folder of a cgroup: it bears the mark, or
// systemd made it from a unit file of kqos's, since no mark outlives a reboot.
func (d *Driver) made(folder, p string) (bool, error) {
	ours, err := hasMark(folder)
	if ours || err != nil || d.kind != Systemd {
		return ours, err
	}
	return ownUnit(path.Base(p)), nil
}

// foreignFolder gives a folder of a cgroup that kqos did not make, "" when there is
// none. On v1 a cgroup may be kqos's own in some hierarchies only.
func (d *Driver) foreignFolder(p string) (string, error) {
	for _, folder := range d.folders(p) {
		there, err := isFolder(folder)
		if err != nil {
			return "", err
		}
		if !there {
			continue
		}
		if ours, err := d.made(folder, p); err != nil || !ours {
			return folder, err
		}
	}
	return "", nil
}

// attribute reads an extended attribute. Nearly all are small.
func attribute(folder, name string) (string, error) {
	buf := make([]byte, 128)
	n, err := unix.Lgetxattr(folder, name, buf)
	if errors.Is(err, unix.ERANGE) {
		buf = make([]byte, xattrSizeMax)
		n, err = unix.Lgetxattr(folder, name, buf)
	}
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// Recall gives what Keep left on a cgroup; "" when nothing, and for a cgroup
// that is gone.
func (d *Driver) Recall(p string) (string, error) {
	if err := checkPath(p); err != nil {
		return "", err
	}
	text, err := attribute(d.folder(p), kept)
	switch {
	case err == nil:
		return text, nil
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOENT):
		return "", nil
	}
	return "", fmt.Errorf("reading %s of cgroup %s: %w", kept, p, err)
}

// Keep leaves a text of at most 64 KiB on a cgroup, whoever made it; it goes
// with the cgroup.
func (d *Driver) Keep(p, text string) error {
	if err := checkPath(p); err != nil {
		return err
	}
	if err := unix.Lsetxattr(d.folder(p), kept, []byte(text), 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("setting %s of cgroup %s: %w", kept, p, err)
	}
	return nil
}

// intents are the children of a cgroup that were not finished.
func (d *Driver) intents(parent string) ([]string, error) {
	names, err := attribute(d.folder(parent), creating)
	if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s of cgroup %s: %w", creating, parent, err)
	}
	return strings.Split(names, "/"), nil
}

// intend names the child about to be made on its parent, beside others that
// could not be finished. Without the right to set attributes nothing is made at
// all, since it could never be told from another's.
func (d *Driver) intend(p string) error {
	names, err := d.intents(path.Dir(p))
	if err != nil {
		return fmt.Errorf("creating cgroup %s: %w", p, err)
	}
	if slices.Contains(names, path.Base(p)) {
		return nil
	}
	parent := d.folder(path.Dir(p))
	// What was never made, or is gone again, needs no name.
	names = slices.DeleteFunc(names, func(name string) bool { return !d.anyFolder(path.Join(path.Dir(p), name)) })
	names = append(names, path.Base(p))
	err = unix.Lsetxattr(parent, creating, []byte(strings.Join(names, "/")), 0)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.ENOTSUP):
		return fmt.Errorf("creating cgroup %s: kqos may not mark what it makes (setting %s on %s: %w): run it as root with CAP_SYS_ADMIN", p, creating, parent, err)
	case errors.Is(err, unix.EROFS):
		return fmt.Errorf("creating cgroup %s: %w", p, readOnly(err))
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("creating cgroup %s: its parent %s does not exist: %w", p, path.Dir(p), errGone)
	}
	return fmt.Errorf("creating cgroup %s: setting %s on %s: %w", p, creating, parent, err)
}

// anyFolder says whether a cgroup has a folder in some hierarchy.
func (d *Driver) anyFolder(p string) bool {
	return slices.ContainsFunc(d.folders(p), func(folder string) bool {
		ok, err := isFolder(folder)
		return ok || err != nil
	})
}

// done withdraws an intent.
func (d *Driver) done(p string) error {
	names, err := d.intents(path.Dir(p))
	if err != nil {
		return fmt.Errorf("creating cgroup %s: %w", p, err)
	}
	parent := d.folder(path.Dir(p))
	names = slices.DeleteFunc(names, func(name string) bool { return name == path.Base(p) })
	if len(names) > 0 {
		err = unix.Lsetxattr(parent, creating, []byte(strings.Join(names, "/")), 0)
	} else {
		err = unix.Lremovexattr(parent, creating)
	}
	if err == nil || errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOENT) {
		return nil
	}
	return fmt.Errorf("creating cgroup %s: changing %s of its parent: %w", p, creating, err)
}

// unfinished says whether a cgroup is what kqos was about to make when it was
// killed or failed: its parent names it, and nothing lives in it or below.
func (d *Driver) unfinished(p string) (bool, error) {
	names, err := d.intents(path.Dir(p))
	if err != nil || !slices.Contains(names, path.Base(p)) {
		return false, err
	}
	children, err := d.Children(p)
	if err != nil || len(children) > 0 {
		return false, err
	}
	pid, err := d.process(p)
	return pid == 0 && err == nil, err
}

// setMarks marks the folders of a cgroup that exist.
func (d *Driver) setMarks(folders []string) error {
	var errs []error
	for _, folder := range folders {
		err := unix.Lsetxattr(folder, markName, []byte(marked), 0)
		if err != nil && !errors.Is(err, unix.ENOENT) {
			errs = append(errs, fmt.Errorf("marking %s: %w", folder, err))
		}
	}
	return errors.Join(errs...)
}

// process gives a process of the cgroup itself, 0 when it has none. On v1 any
// hierarchy counts.
func (d *Driver) process(p string) (int, error) {
	for _, folder := range d.folders(p) {
		pids, err := oc.GetPids(folder)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("reading the processes of %s: %w", folder, err)
		}
		if len(pids) > 0 {
			return pids[0], nil
		}
	}
	return 0, nil
}

// Holds names what keeps a cgroup and all below it from being removed by kqos:
// a process, or a cgroup without the mark. It returns "" when nothing does. It
// is to be asked right before a removal.
func (d *Driver) Holds(p string) (string, error) {
	if err := checkPath(p); err != nil {
		return "", err
	}
	pid, err := d.process(p)
	if err != nil {
		return "", err
	}
	if pid != 0 {
		return fmt.Sprintf("process %d lives in %s", pid, p), nil
	}
	foreign, err := d.foreignFolder(p)
	if err != nil {
		return "", err
	}
	if foreign != "" {
		return foreign + " was not made by kqos", nil
	}
	children, err := d.Children(p)
	if err != nil {
		return "", err
	}
	for _, c := range children {
		held, err := d.Holds(filepath.Join(p, c))
		if held != "" || err != nil {
			return held, err
		}
	}
	return "", nil
}
