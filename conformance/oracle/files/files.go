// Package files has the kubelet's cgroup manager and its library write settings
// of a cgroup, into a folder and as systemd properties.
//
//	written, err := files.WriteSettings(settings, 2, "systemd", []string{"2MB"}, dir)
package files

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	libcgroups "github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/fs"
	"github.com/opencontainers/cgroups/fs2"
	_ "github.com/opencontainers/cgroups/systemd" // the functions below are its own
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm"

	"github.com/kqos/kqos/conformance/older"
	"github.com/kqos/kqos/conformance/oracle/gates"
	"github.com/kqos/kqos/conformance/oracle/inside"
	"github.com/kqos/kqos/conformance/oracle/pod"
)

//go:linkname toResources k8s.io/kubernetes/pkg/kubelet/cm.(*cgroupCommon).toResources
func toResources(unsafe.Pointer, klog.Logger, *cm.ResourceConfig) *libcgroups.Resources

//go:linkname availableRootControllersOnce k8s.io/kubernetes/pkg/kubelet/cm.availableRootControllersOnce
var availableRootControllersOnce sync.Once

//go:linkname availableRootControllers k8s.io/kubernetes/pkg/kubelet/cm.availableRootControllers
var availableRootControllers sets.Set[string]

// Written is what stands in each file, and each property as systemd gets it.
type Written struct {
	Files      map[string]string `json:"files"`
	Properties map[string]string `json:"properties,omitempty"`
}

// hierarchies are those of cgroup v1 that the kubelet writes to.
func hierarchies() []string { return []string{"cpu", "cpuset", "memory", "pids", "hugetlb"} }

// Write writes the settings of a cgroup that the kubelet makes with the driver
// on a host of that version with pages of those sizes. What stands in the folder
// from before is changed.
func Write(c *cm.ResourceConfig, version int, driver string, pages []string, dir string) (Written, error) {
	r := Resources(c, version, pages)
	w := Written{Files: map[string]string{}}
	if driver == "systemd" {
		var err error
		// It rounds the quota that the files get, too.
		if w.Properties, err = properties(r, version, dir); err != nil {
			return w, err
		}
	}
	return w, w.write(r, version, dir)
}

// WriteSettings is Write for settings in the form of the golden files.
func WriteSettings(r pod.Resources, version int, driver string, pages []string, dir string) (Written, error) {
	if older.Asked() {
		return older.Try[Written]("files.WriteSettings", r, version, driver, pages, dir)
	}
	c, err := r.Config()
	if err != nil {
		return Written{}, err
	}
	return Write(c, version, driver, pages, dir)
}

// Resources is what the kubelet hands to its cgroup library.
func Resources(c *cm.ResourceConfig, version int, pages []string) *libcgroups.Resources {
	gates.SetCgroupVersion(version)
	gates.SetPageSizes(pages)
	availableRootControllersOnce.Do(func() {})
	availableRootControllers = sets.New("cpu", "cpuset", "memory", "hugetlb", "pids")
	inside.Link(cm.NewCgroupV2Manager)
	m := inside.New("cm.cgroupCommon")
	inside.Set(m, "subsystems", &cm.CgroupSubsystems{MountPoints: map[string]string{"hugetlb": "/sys/fs/cgroup/hugetlb"}})
	return toResources(m.UnsafePointer(), klog.Background(), c)
}

// write lets the library write into a folder instead of a cgroup.
func (w Written) write(r *libcgroups.Resources, version int, dir string) error {
	libcgroups.TestMode = true
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if version == 2 {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.controllers"), nil, 0o600); err != nil {
			return err
		}
		m, err := fs2.NewManager(&libcgroups.Cgroup{Resources: r}, dir)
		if err != nil {
			return err
		}
		if err := m.Set(r); err != nil {
			return err
		}
		return w.read(dir, "")
	}
	paths := map[string]string{}
	for _, name := range hierarchies() {
		paths[name] = filepath.Join(dir, name)
		if err := os.MkdirAll(paths[name], 0o700); err != nil {
			return err
		}
	}
	m, err := fs.NewManager(&libcgroups.Cgroup{Resources: r}, paths)
	if err != nil {
		return err
	}
	if err := m.Set(r); err != nil {
		return err
	}
	for name, path := range paths {
		if err := w.read(path, name+"/"); err != nil {
			return err
		}
	}
	return nil
}

func (w Written) read(dir, prefix string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == "cgroup.controllers" || e.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return fmt.Errorf("reading what was written: %w", err)
		}
		w.Files[prefix+e.Name()] = string(data)
	}
	return nil
}
