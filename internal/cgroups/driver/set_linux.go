package driver

import (
	"errors"
	"fmt"
	"os"
	"strings"

	oc "github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/manager"
	"golang.org/x/sys/unix"

	"github.com/kqos/kqos/internal/cgroups"
)

// subtreeControl takes +controller, one a write, so that the refusal of one
// keeps back no other.
const subtreeControl = "cgroup.subtree_control"

// Set writes control files of a cgroup, keyed as Cgroup.Files, and under
// systemd the unit's properties first, as the kubelet does. It changes nothing
// that is not named. After an error some of the files may have been written.
func (d *Driver) Set(cg *cgroups.Cgroup, files map[string]string) error {
	if err := checkPath(cg.Path); err != nil {
		return err
	}
	if value, ok := files[subtreeControl]; ok && len(files) == 1 {
		return d.enable(cg.Path, value)
	}
	for key := range files {
		if _, _, err := d.locate(cg.Path, key); err != nil {
			return fmt.Errorf("writing %s of cgroup %s: %w", key, cg.Path, err)
		}
	}
	r, err := d.resources(files)
	if err != nil {
		return fmt.Errorf("cgroup %s: %w", cg.Path, err)
	}
	m, err := manager.NewWithPaths(d.config(cg, r), d.paths(cg.Path))
	if err != nil {
		return fmt.Errorf("cgroup %s: %w", cg.Path, err)
	}
	set := func() error {
		for {
			if err := m.Set(r); !errors.Is(err, unix.EINTR) {
				return err
			}
		}
	}
	if d.kind == Systemd && cg.Unit != "" {
		return d.explain(cg.Path, d.keepControllers(cg.Path, set))
	}
	return d.explain(cg.Path, set())
}

func (d *Driver) resources(files map[string]string) (*oc.Resources, error) {
	if d.v2() {
		return resourcesV2(files), nil
	}
	return resourcesV1(files)
}

// explain adds what a bare errno of the kernel does not say.
func (d *Driver) explain(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENODEV):
		return fmt.Errorf("cgroup %s: %w: %w", path, errGone, err)
	case errors.Is(err, os.ErrNotExist):
		if there, lookErr := isFolder(d.folder(path)); lookErr == nil && !there {
			return fmt.Errorf("cgroup %s: %w: %w", path, errGone, err)
		}
	case errors.Is(err, unix.EROFS):
		return fmt.Errorf("cgroup %s: %w", path, readOnly(err))
	}
	return fmt.Errorf("cgroup %s: %w", path, err)
}

func readOnly(err error) error {
	return fmt.Errorf("%w: the cgroup mount is read-only; mount it writable at %s", err, mountpoint)
}

// enable hands controllers down to the children of a v2 cgroup.
func (d *Driver) enable(path, value string) error {
	var errs []error
	for word := range strings.FieldsSeq(value) {
		errs = append(errs, d.enableOne(path, word))
	}
	return errors.Join(errs...)
}

func (d *Driver) enableOne(path, word string) error {
	if !strings.HasPrefix(word, "+") {
		return fmt.Errorf("cgroup %s: controllers are only ever enabled, not %q", path, word)
	}
	return explainEnable(path, word, oc.WriteFile(d.folder(path), subtreeControl, word))
}

// explainEnable says why the kernel did not hand a controller down.
//
// kernel: kernel/cgroup/cgroup.c cgroup_subtree_control_write; kernel/sched/core.c
// cpu_cgroup_can_attach
func explainEnable(path, word string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EBUSY):
		return fmt.Errorf("enabling %s below cgroup %s: processes live in it itself: %w", word, path, err)
	case errors.Is(err, unix.EINVAL) && word == "+cpu":
		return fmt.Errorf("enabling +cpu below cgroup %s: realtime threads live below it (RT_GROUP_SCHED), which the kernel refuses: end them or give them another policy (chrt -o -p 0 PID): %w", path, err)
	case errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("enabling %s below cgroup %s: it is threaded (cgroup.type), where this controller can't work; kqos never writes cgroup.type: %w", word, path, err)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("enabling %s below cgroup %s: %w", word, path, &ControllerMissingError{Controller: word[1:]})
	}
	return fmt.Errorf("enabling %s below cgroup %s: %w", word, path, err)
}
