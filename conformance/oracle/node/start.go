package node

import (
	"context"
	"fmt"
	"strconv"
	"time"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	_ "k8s.io/kubernetes/cmd/kubelet/app" // two of the functions below are its own
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	kubeletcadvisor "k8s.io/kubernetes/pkg/kubelet/cadvisor"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubelet/cm/containermap"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	evictionapi "k8s.io/kubernetes/pkg/kubelet/eviction/api"
	"k8s.io/kubernetes/pkg/kubelet/stats/pidlimit"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/conformance/older"
	"github.com/kqos/kqos/conformance/oracle/cadvisor"
	"github.com/kqos/kqos/conformance/oracle/gates"
	"github.com/kqos/kqos/conformance/oracle/pod"
	"github.com/kqos/kqos/conformance/oracle/start"
	"github.com/kqos/kqos/internal/machine"
)

//go:linkname getReservedCPUs k8s.io/kubernetes/cmd/kubelet/app.getReservedCPUs
func getReservedCPUs(klog.Logger, *cadvisor.MachineInfo, string) (cpuset.CPUSet, error)

//go:linkname parseResourceList k8s.io/kubernetes/cmd/kubelet/app.parseResourceList
func parseResourceList(map[string]string) (v1.ResourceList, error)

//go:linkname hardEvictionReservation k8s.io/kubernetes/pkg/kubelet/cm.hardEvictionReservation
func hardEvictionReservation([]evictionapi.Threshold, v1.ResourceList) v1.ResourceList

// Host is what the kubelet learns of the node besides cAdvisor's machine.
type Host struct {
	CgroupVersion    int
	MaxPID           int64
	EphemeralStorage int64
	// PageSizes are named as in cgroup files.
	PageSizes []string
}

// Answer is what the kubelet makes of a node, in the form of
// testdata/golden/allocatable.json: cpu in millicores, all else in units. Where
// the kubelet does not start, Stage and Error say why, and all else is what was
// known by then.
type Answer struct {
	Stage               string                   `json:"stage,omitempty"`
	Error               string                   `json:"error,omitempty"`
	ReservedCPUs        string                   `json:"reservedSystemCPUs,omitempty"`
	QOSReserved         map[string]int64         `json:"qosReserved,omitempty"`
	EvictionReservation map[string]int64         `json:"evictionReservation,omitempty"`
	Reservation         map[string]int64         `json:"reservation,omitempty"`
	Capacity            map[string]int64         `json:"capacity,omitempty"`
	Allocatable         map[string]int64         `json:"allocatable,omitempty"`
	Absolute            map[string]int64         `json:"allocatableForCgroups,omitempty"`
	Enforced            map[string]pod.Resources `json:"enforced,omitempty"`
}

// Start goes through the kubelet's start in its order, up to the enforcement of
// node allocatable. The file is that of a configuration which start.Judge finds
// valid; dir takes the checkpoint files.
func Start(file string, m *machine.Machine, host Host, dir string) (a Answer, err error) {
	if older.Asked() {
		return older.Try[Answer]("node.Start", file, m, host, dir)
	}
	c, err := start.Load(start.Options{File: file})
	if err != nil {
		return a, err
	}
	gates.SetCgroupVersion(host.CgroupVersion)
	if stage, err := run(c, cadvisor.Info(m), host, dir, &a); err != nil {
		a.Stage, a.Error = stage, err.Error()
	}
	return a, nil
}

func run(c *kubeletconfig.KubeletConfiguration, info *cadvisor.MachineInfo, host Host, dir string, a *Answer) (string, error) {
	m, stage, err := parse(c, info, a)
	if err != nil {
		return stage, err
	}
	if host.CgroupVersion == 1 && c.MemorySwap.SwapBehavior == "LimitedSwap" {
		return "swap", fmt.Errorf("swap feature is enabled and LimitedSwap but it is only supported with cgroupv2")
	}
	m.capacity = kubeletcadvisor.CapacityFromMachineInfo(info)
	m.internalCapacity = m.capacity.DeepCopy()
	m.internalCapacity[pidlimit.PIDs] = *resource.NewQuantity(host.MaxPID, resource.DecimalSI)
	if stage, err := startManagers(m, c, info, dir); err != nil {
		return stage, err
	}
	m.nodeInfo = &v1.Node{}
	if c.LocalStorageCapacityIsolation {
		m.capacity[v1.ResourceEphemeralStorage] = *resource.NewQuantity(host.EphemeralStorage, resource.DecimalSI)
	}
	a.EvictionReservation = pod.Amounts(hardEvictionReservation(m.HardEvictionThresholds, m.capacity))
	a.Reservation = pod.Amounts(nodeAllocatableReservation(m))
	a.Absolute = pod.Amounts(nodeAllocatableAbsolute(m))
	a.status(m, c, info)
	if err := validateNodeAllocatable(m); err != nil {
		return "nodeAllocatable", err
	}
	return "enforce", a.enforce(m, c)
}

// parse reads what validation leaves alone.
func parse(c *kubeletconfig.KubeletConfiguration, info *cadvisor.MachineInfo, a *Answer) (*containerManager, string, error) {
	m := &containerManager{}
	var err error
	if m.ReservedSystemCPUs, err = getReservedCPUs(klog.Background(), info, c.ReservedSystemCPUs); err != nil {
		return nil, "reservedSystemCPUs", err
	}
	a.ReservedCPUs = m.ReservedSystemCPUs.String()
	if n := m.ReservedSystemCPUs.Size(); n > 0 {
		delete(c.KubeReserved, "cpu")
		if c.SystemReserved == nil {
			c.SystemReserved = map[string]string{}
		}
		c.SystemReserved["cpu"] = strconv.Itoa(n)
	}
	if m.KubeReserved, err = parseResourceList(c.KubeReserved); err != nil {
		return nil, "kubeReserved", fmt.Errorf("--kube-reserved value failed to parse: %w", err)
	}
	if m.SystemReserved, err = parseResourceList(c.SystemReserved); err != nil {
		return nil, "systemReserved", fmt.Errorf("--system-reserved value failed to parse: %w", err)
	}
	if m.HardEvictionThresholds, err = eviction.ParseThresholdConfig([]string{}, c.EvictionHard, nil, nil, nil); err != nil {
		return nil, "evictionHard", err
	}
	reserved, err := cm.ParseQOSReserved(c.QOSReserved)
	if err != nil {
		return nil, "qosReserved", fmt.Errorf("--qos-reserved value failed to parse: %w", err)
	}
	a.QOSReserved = map[string]int64{}
	for name, percent := range *reserved {
		a.QOSReserved[string(name)] = percent
	}
	m.CgroupsPerQOS, m.EnforceNodeAllocatable = c.CgroupsPerQOS, sets.New(c.EnforceNodeAllocatable...)
	m.SystemReservedCgroupName, m.KubeReservedCgroupName = c.SystemReservedCgroup, c.KubeReservedCgroup
	return m, "", nil
}

// startManagers builds and starts the managers that decide what is enforced or
// refuse the configuration.
func startManagers(m *containerManager, c *kubeletconfig.KubeletConfiguration, info *cadvisor.MachineInfo, dir string) (string, error) {
	logger := klog.Background()
	affinity, err := NewTopologyManager(info.Topology, c.TopologyManagerPolicy, c.TopologyManagerScope, c.TopologyManagerPolicyOptions)
	if err != nil {
		return "topologyManager", err
	}
	// The managers' own loop is not wanted here.
	const never = 10000 * time.Hour
	m.cpuManager, err = cpumanager.NewManager(logger, c.CPUManagerPolicy, c.CPUManagerPolicyOptions, never, info,
		m.ReservedSystemCPUs, nodeAllocatableReservation(m), dir, affinity)
	if err != nil {
		return "cpuManager", err
	}
	memory, err := memorymanager.NewManager(logger, c.MemoryManagerPolicy, info, nodeAllocatableReservation(m), c.ReservedMemory, dir, affinity)
	if err != nil {
		return "memoryManager", err
	}
	none := func() []*v1.Pod { return nil }
	if err := m.cpuManager.Start(context.Background(), none, sources{}, noStatus{}, noRuntime{}, containermap.NewContainerMap()); err != nil {
		return "cpuManagerStart", err
	}
	if err := memory.Start(context.Background(), none, sources{}, noStatus{}, noRuntime{}, containermap.NewContainerMap()); err != nil {
		return "memoryManagerStart", err
	}
	return "", nil
}

// status fills in what the node's status says.
func (a *Answer) status(m *containerManager, c *kubeletconfig.KubeletConfiguration, info *cadvisor.MachineInfo) {
	set := machineInfo(m, c, info)
	n := &v1.Node{}
	if err := set(context.Background(), n); err != nil {
		return
	}
	a.Capacity, a.Allocatable = pod.Amounts(n.Status.Capacity), pod.Amounts(n.Status.Allocatable)
}

// enforce lets the kubelet set limits on the pods' and the reserved cgroups.
func (a *Answer) enforce(m *containerManager, c *kubeletconfig.KubeletConfiguration) error {
	naming := cm.NewCgroupManager(klog.Background(), &cm.CgroupSubsystems{}, c.CgroupDriver)
	r := &cgroupRecorder{CgroupManager: naming, updates: map[string]*cm.ResourceConfig{}}
	m.cgroupManager = r
	m.cgroupRoot = cm.ParseCgroupfsToCgroupName(c.CgroupRoot)
	if c.CgroupsPerQOS {
		m.cgroupRoot = cm.NewCgroupName(m.cgroupRoot, "kubepods")
	}
	events := &eventRecorder{enforced: make(chan struct{}, 8)}
	m.recorder = events
	err := enforceNodeAllocatableCgroups(m, klog.Background())
	if len(m.cgroupRoot) > 0 {
		<-events.enforced
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a.Enforced = map[string]pod.Resources{}
	for path, config := range r.updates {
		a.Enforced[path] = pod.FromConfig(config)
	}
	return err
}

// Reservation is what the kubelet reserves of a machine before it knows the
// node's storage: the base of the CPU and the memory manager. An error has the
// stage of the start that it ends.
func Reservation(c *kubeletconfig.KubeletConfiguration, info *cadvisor.MachineInfo) (reserved cpuset.CPUSet, list v1.ResourceList, stage string, err error) {
	m, stage, err := parse(c, info, &Answer{})
	if err != nil {
		return cpuset.CPUSet{}, nil, stage, err
	}
	m.capacity = kubeletcadvisor.CapacityFromMachineInfo(info)
	return m.ReservedSystemCPUs, nodeAllocatableReservation(m), "", nil
}
