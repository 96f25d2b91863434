package node

import (
	"context"
	"maps"
	"path/filepath"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm"

	"github.com/kqos/kqos/conformance/older"
	"github.com/kqos/kqos/conformance/oracle/files"
	"github.com/kqos/kqos/conformance/oracle/gates"
	"github.com/kqos/kqos/conformance/oracle/start"
)

// tierRecorder has every update written into a folder for each cgroup.
type tierRecorder struct {
	cm.CgroupManager
	host    Host
	driver  string
	dir     string
	mu      sync.Mutex
	written map[string]files.Written
	// over says that nothing counts any more: the kubelet's own loop never ends.
	over bool
}

func (r *tierRecorder) Validate(cm.CgroupName) error { return nil }

func (r *tierRecorder) Exists(cm.CgroupName) bool { return false }

func (r *tierRecorder) Create(l klog.Logger, c *cm.CgroupConfig) error { return r.Update(l, c) }

func (r *tierRecorder) Update(_ klog.Logger, c *cm.CgroupConfig) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return nil
	}
	path := r.Name(c.Name)
	now, err := files.Write(c.ResourceParameters, r.host.CgroupVersion, r.driver, r.host.PageSizes, filepath.Join(r.dir, path))
	if err != nil {
		return err
	}
	// What an update does not name stays as it was.
	if before := r.written[path].Properties; before != nil {
		maps.Copy(before, now.Properties)
		now.Properties = before
	}
	r.written[path] = now
	return nil
}

// end returns what was written, of which no more will be.
func (r *tierRecorder) end() map[string]files.Written {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	return r.written
}

// Tiers lets the kubelet start its QoS tiers for the pods and run its loop once.
// It returns what then stands in each cgroup; dir takes the files. The
// configuration of the file is one that start.Judge finds valid.
func Tiers(file string, allocatable v1.ResourceList, pods []*v1.Pod, host Host, dir string) (map[string]files.Written, error) {
	if older.Asked() {
		return older.Try[map[string]files.Written]("node.Tiers", file, allocatable, pods, host, dir)
	}
	c, err := start.Load(start.Options{File: file})
	if err != nil {
		return nil, err
	}
	gates.SetCgroupVersion(host.CgroupVersion)
	gates.SetPageSizes(host.PageSizes)
	logger := klog.Background()
	r := &tierRecorder{
		CgroupManager: cm.NewCgroupManager(logger, &cm.CgroupSubsystems{}, c.CgroupDriver),
		host:          host, driver: c.CgroupDriver, dir: dir, written: map[string]files.Written{},
	}
	defer r.end()
	reserved, err := cm.ParseQOSReserved(c.QOSReserved)
	if err != nil {
		return nil, err
	}
	root := cm.NewCgroupName(cm.ParseCgroupfsToCgroupName(c.CgroupRoot), "kubepods")
	config := nodeConfig(c)
	config.CgroupsPerQOS, config.QOSReserved = true, *reserved
	m, err := cm.NewQOSContainerManager(&cm.CgroupSubsystems{}, root, config, r)
	if err != nil {
		return nil, err
	}
	active := func() []*v1.Pod {
		copies := make([]*v1.Pod, len(pods))
		for i, p := range pods {
			copies[i] = p.DeepCopy() // its sums change pod-level amounts in place
		}
		return copies
	}
	if err := m.Start(context.Background(), func() v1.ResourceList { return allocatable }, active); err != nil {
		return nil, err
	}
	if err := m.UpdateCgroups(logger); err != nil {
		return nil, err
	}
	return r.end(), nil
}
