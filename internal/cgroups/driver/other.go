//go:build !linux

package driver

import (
	"context"
	"errors"
	"path"

	"github.com/kqos/kqos/internal/cgroups"
)

// Driver can't be opened on this system.
type Driver struct{}

// errUnsupported is what all of this package returns where there are no cgroups.
var errUnsupported = errors.New("cgroups can be read and written on Linux only; use --dry-run with --topology elsewhere")

// Open returns errUnsupported.
func Open(Options) (*Driver, error) { return nil, errUnsupported }

// Here holds for this system's own root, where Open tells what is wrong.
func Here(hostRoot string) (bool, error) { return path.Clean(hostRoot) == "/", nil }

// Close does nothing.
func (*Driver) Close() {}

// Lock returns errUnsupported, as all methods do.
func (*Driver) Lock(context.Context, string) (func(), error) { return nil, errUnsupported }

func (*Driver) Read(*cgroups.Cgroup) (cgroups.Live, error) { return cgroups.Live{}, errUnsupported }
func (*Driver) ReadFile(string, string) (string, error)    { return "", errUnsupported }
func (*Driver) Children(string) ([]string, error)          { return nil, errUnsupported }
func (*Driver) Controllers(string) (available, enabled []string, err error) {
	return nil, nil, errUnsupported
}
func (*Driver) Create(*cgroups.Cgroup) error                 { return errUnsupported }
func (*Driver) Set(*cgroups.Cgroup, map[string]string) error { return errUnsupported }
func (*Driver) Holds(string) (string, error)                 { return "", errUnsupported }
func (*Driver) Delegated(string) (bool, error)               { return false, errUnsupported }
func (*Driver) Recall(string) (string, error)                { return "", errUnsupported }
func (*Driver) Keep(string, string) error                    { return errUnsupported }
func (*Driver) Self() ([]string, error)                      { return nil, errUnsupported }
func (*Driver) Remove(*cgroups.Cgroup) error                 { return errUnsupported }
