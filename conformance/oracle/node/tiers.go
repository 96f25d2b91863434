package node

import (
	"context"
	"maps"
	"strconv"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/cm"

	"github.com/kqos/kqos/conformance/oracle/gates"
	"github.com/kqos/kqos/conformance/oracle/pod"
)

// tierRecorder keeps what is written to each cgroup, the last value of a file.
type tierRecorder struct {
	cm.CgroupManager
	mu    sync.Mutex
	files map[string]map[string]string
}

func (r *tierRecorder) Validate(cm.CgroupName) error { return nil }

func (r *tierRecorder) Exists(cm.CgroupName) bool { return false }

func (r *tierRecorder) Create(l klog.Logger, c *cm.CgroupConfig) error { return r.Update(l, c) }

func (r *tierRecorder) Update(_ klog.Logger, c *cm.CgroupConfig) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	path := r.Name(c.Name)
	if r.files[path] == nil {
		r.files[path] = map[string]string{}
	}
	maps.Copy(r.files[path], filesV2(c.ResourceParameters))
	return nil
}

// filesV2 are the files of cgroup v2 but for huge pages, which depend on the
// host that runs the test.
func filesV2(c *cm.ResourceConfig) map[string]string {
	files := maps.Clone(c.Unified)
	if files == nil {
		files = map[string]string{}
	}
	if c.CPUShares != nil {
		files["cpu.weight"] = strconv.FormatUint(pod.Weight(*c.CPUShares), 10)
	}
	if m := c.Memory; m != nil && *m != 0 {
		files["memory.max"] = strconv.FormatInt(*m, 10)
		if *m == -1 {
			// opencontainers/cgroups fs2/memory.go setMemory lifts swap as well.
			files["memory.max"], files["memory.swap.max"] = "max", "max"
		}
	}
	return files
}

// Tiers lets the kubelet start its QoS tiers for the pods on cgroup v2 and run
// its loop once. It returns the files of each cgroup, without huge pages.
func Tiers(c *kubeletconfig.KubeletConfiguration, allocatable v1.ResourceList, pods []*v1.Pod) (map[string]map[string]string, error) {
	gates.SetCgroupVersion(2)
	logger := klog.Background()
	r := &tierRecorder{CgroupManager: cm.NewCgroupManager(logger, &cm.CgroupSubsystems{}, c.CgroupDriver), files: map[string]map[string]string{}}
	reserved, err := cm.ParseQOSReserved(c.QOSReserved)
	if err != nil {
		return nil, err
	}
	root := cm.NewCgroupName(cm.ParseCgroupfsToCgroupName(c.CgroupRoot), "kubepods")
	m, err := cm.NewQOSContainerManager(&cm.CgroupSubsystems{}, root, cm.NodeConfig{
		CgroupsPerQOS: true, QOSReserved: *reserved, MemoryReservationPolicy: c.MemoryReservationPolicy,
	}, r)
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
	r.mu.Lock()
	defer r.mu.Unlock()
	files := map[string]map[string]string{}
	for path, written := range r.files {
		files[path] = maps.Clone(written)
	}
	return files, nil
}
