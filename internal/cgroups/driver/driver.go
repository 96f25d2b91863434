// Package driver reads and writes the cgroups of this host through
// github.com/opencontainers/cgroups: cgroupfs and systemd, v1 (also the v1 half
// of a hybrid host) and v2. It decides no value.
//
//	d, err := driver.Open(driver.Options{Kind: "cgroupfs", Version: 1, HostRoot: "/"})
//	live, err := d.Read(&cgroup)
package driver

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// mountpoint is where opencontainers/cgroups looks for cgroups, and nowhere else.
const mountpoint = "/sys/fs/cgroup"

// markName is the extended attribute of a cgroup that kqos made. It needs
// CAP_SYS_ADMIN to be set and to be seen.
const markName = "trusted.kqos"

// marked is markName's value: the layout of what kqos keeps on a cgroup.
const marked = "1"

// creating is the attribute by which the parent names the child that is being
// made, so that a child whose maker was killed before it could set markName is
// still known as kqos's own.
const creating = "trusted.kqos.creating"

// kept is the attribute in which apply keeps what it had to write again, since
// no state file is kept.
const kept = "trusted.kqos.kept"

// Options say which cgroups to work on.
type Options struct {
	// Kind is cgroupfs or systemd.
	Kind string
	// Version is 1 or 2 and must be the host's.
	Version int
	// HostRoot is the prefix of the host's files; what lies below its
	// sys/fs/cgroup must be what lies at /sys/fs/cgroup.
	HostRoot string
}

// errGone is returned when a cgroup vanished between two steps.
var errGone = errors.New("the cgroup is gone")

// ControllerMissingError says that the kernel offers no such controller in the
// hierarchies that the driver writes.
type ControllerMissingError struct {
	Controller string
	// Elsewhere is set on hybrid hosts where the v2 hierarchy has it.
	Elsewhere bool
}

func (e *ControllerMissingError) Error() string {
	if e.Elsewhere {
		return fmt.Sprintf("controller %s is in the v2 hierarchy of this hybrid host, where a kubelet on v1 does not look", e.Controller)
	}
	return fmt.Sprintf("controller %s is not available", e.Controller)
}

// maxComponent is the longest name of a folder (NAME_MAX).
const maxComponent = 255

// checkPath refuses a path that could lead out of the cgroup mount or that the
// kernel would not take.
func checkPath(p string) error {
	if !path.IsAbs(p) || path.Clean(p) != p {
		return fmt.Errorf("cgroup path %q is not absolute and clean", p)
	}
	for part := range strings.SplitSeq(p[1:], "/") {
		if len(part) > maxComponent {
			return fmt.Errorf("cgroup path %.60q…: a name of %d bytes is longer than the kernel's %d", p, len(part), maxComponent)
		}
		if strings.ContainsAny(part, "\n\x00") {
			return fmt.Errorf("cgroup path %q holds a newline or NUL, which cgroups may not", p)
		}
	}
	return nil
}
