package pod

import (
	"strings"
	"time"
	_ "unsafe" // for go:linkname

	libcgroups "github.com/opencontainers/cgroups"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/conformance/older"
)

//go:linkname getCPUWeight k8s.io/kubernetes/pkg/kubelet/cm.getCPUWeight
func getCPUWeight(shares *uint64) uint64

// CgroupOptions are the fields of a configuration that a pod's cgroup depends on.
type CgroupOptions struct {
	CPUCFSQuota             bool          `json:"cpuCFSQuota"`
	CPUCFSQuotaPeriod       time.Duration `json:"cpuCFSQuotaPeriod"`
	PodPidsLimit            int64         `json:"podPidsLimit"`
	MemoryReservationPolicy string        `json:"memoryReservationPolicy,omitempty"`
	MemoryThrottlingFactor  *float64      `json:"memoryThrottlingFactor,omitempty"`
}

// Resources is the kubelet's ResourceConfig in the form of the golden files.
type Resources struct {
	Memory        *int64            `json:"memory,omitempty"`
	CPUShares     *uint64           `json:"cpuShares,omitempty"`
	CPUQuota      *int64            `json:"cpuQuota,omitempty"`
	CPUPeriod     *uint64           `json:"cpuPeriod,omitempty"`
	CPUSet        string            `json:"cpuSet,omitempty"`
	PidsLimit     *int64            `json:"pidsLimit,omitempty"`
	HugePageLimit map[int64]int64   `json:"hugePageLimit,omitempty"`
	Unified       map[string]string `json:"unified,omitempty"`
}

// FromConfig is what the kubelet sets.
func FromConfig(c *cm.ResourceConfig) Resources {
	if c == nil {
		return Resources{}
	}
	return Resources{
		Memory: c.Memory, CPUShares: c.CPUShares, CPUQuota: c.CPUQuota, CPUPeriod: c.CPUPeriod,
		CPUSet: c.CPUSet.String(), PidsLimit: c.PidsLimit, HugePageLimit: c.HugePageLimit, Unified: c.Unified,
	}
}

// Config is the kubelet's form of it.
func (r Resources) Config() (*cm.ResourceConfig, error) {
	cpus, err := cpuset.Parse(r.CPUSet)
	return &cm.ResourceConfig{
		Memory: r.Memory, CPUShares: r.CPUShares, CPUQuota: r.CPUQuota, CPUPeriod: r.CPUPeriod,
		CPUSet: cpus, PidsLimit: r.PidsLimit, HugePageLimit: r.HugePageLimit, Unified: r.Unified,
	}, err
}

// Cgroup is what the kubelet sets on the pod's cgroup at its creation on a host
// with cgroup v2, under the gates as they are set. Each question gets a copy of
// the pod: the kubelet's sums change pod-level amounts in place.
func Cgroup(p *corev1.Pod, o CgroupOptions) Resources {
	if older.Asked() {
		return older.Ask[Resources]("pod.Cgroup", p, o)
	}
	c := resourceConfig(p, o)
	setMemoryHigh(c, p, o)
	if o.PodPidsLimit > 0 {
		c.PidsLimit = &o.PodPidsLimit
	}
	return FromConfig(c)
}

// Conversions are those of one number that make control files.
type Conversions struct {
	Shares                uint64
	Quota                 int64
	Weight, RuntimeWeight uint64
}

// Convert does them as the kubelet and its cgroup library do.
func Convert(n, period int64) Conversions {
	if older.Asked() {
		return older.Ask[Conversions]("pod.Convert", n, period)
	}
	shares := uint64(n)
	return Conversions{
		Shares: cm.MilliCPUToShares(n), Quota: cm.MilliCPUToQuota(n, period),
		Weight: getCPUWeight(&shares), RuntimeWeight: libcgroups.ConvertCPUSharesToCgroupV2Value(shares),
	}
}

// Path is where the kubelet puts the pod's cgroup, empty where it panics.
func Path(cgroupRoot string, perQOS bool, class corev1.PodQOSClass, uid, driver string) (path string) {
	if older.Asked() {
		return older.Ask[string]("pod.Path", cgroupRoot, perQOS, class, uid, driver)
	}
	defer func() {
		if recover() != nil {
			path = ""
		}
	}()
	name := cm.ParseCgroupfsToCgroupName(cgroupRoot)
	if perQOS {
		name = cm.NewCgroupName(name, "kubepods")
	}
	if class != corev1.PodQOSGuaranteed {
		name = cm.NewCgroupName(name, strings.ToLower(string(class)))
	}
	name = cm.NewCgroupName(name, "pod"+uid)
	if driver == "systemd" {
		return name.ToSystemd()
	}
	return name.ToCgroupfs()
}
