package driver

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Delegated says whether systemd has handed what lies below a cgroup over to
// another. On v1 its attributes stand in a hierarchy of its own only.
//
// systemd: src/core/cgroup.c cgroup_delegate_xattr_apply writes both, as far as
// the kernel takes them; src/basic/cgroup-util.c cg_is_delegated reads them.
func (d *Driver) Delegated(p string) (bool, error) {
	if err := checkPath(p); err != nil {
		return false, err
	}
	for _, folder := range d.folders(p) {
		for _, name := range []string{"trusted.delegate", "user.delegate"} {
			value, err := attribute(folder, name)
			switch {
			case errors.Is(err, unix.ENODATA), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOENT):
			case err != nil:
				return false, fmt.Errorf("reading %s of cgroup %s: %w", name, p, err)
			case value == "1":
				return true, nil
			}
		}
	}
	return false, nil
}
