package driver

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kqos/kqos/internal/cgroups"
)

// removeTries and the delay that doubles between them are the library's, for
// processes that are just about to vanish.
const removeTries = 5

// Remove removes a cgroup and all below it, children first, provided that
// Holds finds nothing in the way. A cgroup that is gone is no error. No
// process is moved or signalled: the kernel itself refuses to remove a folder
// in use, and under systemd the slice is stopped only after its folder is gone.
func (d *Driver) Remove(cg *cgroups.Cgroup) error {
	held, err := d.Holds(cg.Path)
	if err != nil {
		return err
	}
	if held != "" {
		return fmt.Errorf("removing cgroup %s: %s", cg.Path, held)
	}
	return d.remove(cg.Path, cg.Unit)
}

func (d *Driver) remove(p, unit string) error {
	children, err := d.Children(p)
	if err != nil {
		return err
	}
	for _, c := range children {
		childUnit := ""
		if strings.HasSuffix(c, ".slice") {
			childUnit = c
		}
		if err := d.remove(filepath.Join(p, c), childUnit); err != nil {
			return err
		}
	}
	d.files.forget(p)
	for _, folder := range d.folders(p) {
		if err := rmdir(folder); err != nil {
			return fmt.Errorf("removing cgroup %s: %w", p, err)
		}
	}
	if d.kind == Systemd && unit != "" && unit == path.Base(p) {
		if err := stopSlice(unit); err != nil {
			return err
		}
		return dropUnits(unit)
	}
	return nil
}

func rmdir(folder string) error {
	delay := time.Millisecond
	for try := 0; ; {
		err := unix.Rmdir(folder)
		switch {
		case err == nil, errors.Is(err, unix.ENOENT):
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EBUSY) && try < removeTries:
			try++
			time.Sleep(delay)
			delay *= 2
			continue
		}
		return &os.PathError{Op: "rmdir", Path: folder, Err: err}
	}
}
