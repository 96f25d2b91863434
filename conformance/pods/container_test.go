package pods

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/gen"
	"github.com/kqos/kqos/conformance/oracle/pod"
	"github.com/kqos/kqos/conformance/oracle/runtime"
	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
)

// containerInput is what the resources of a pod's containers depend on.
type containerInput struct {
	Pod          *corev1.Pod     `json:"pod"`
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	Exclusive    bool            `json:"exclusive"`
	Node         runtime.Node    `json:"node"`
}

func drawNode(t *rapid.T) runtime.Node {
	pick := func(label string, from ...int64) int64 { return rapid.SampledFrom(from).Draw(t, label) }
	return runtime.Node{
		CgroupVersion:     int(pick("cgroup version", 2, 2, 1)),
		MemoryCapacity:    pick("memory", 8<<30, 1, 4096, 64<<30, 6<<40, 1000, 8<<30-12345),
		SwapCapacity:      pick("swap", 0, 1, 4<<30, 8<<30-1, 1<<40),
		AllocatableMemory: pick("allocatable", 0, 7<<30, 64<<30-1, 1, 4095),
		SwapBehavior:      rapid.SampledFrom([]string{"NoSwap", "LimitedSwap", ""}).Draw(t, "swap behavior"),
		SingleProcess:     rapid.Bool().Draw(t, "single process"),
		PageSizes:         rapid.SampledFrom([][]string{{"2MB", "1GB"}, {"64KB", "2MB", "32MB", "1GB"}, nil}).Draw(t, "page sizes"),
		CgroupOptions:     drawOptions(t),
	}
}

func drawOptions(t *rapid.T) pod.CgroupOptions {
	o := pod.CgroupOptions{
		CPUCFSQuota: rapid.IntRange(0, 4).Draw(t, "quota") > 0,
		CPUCFSQuotaPeriod: rapid.SampledFrom([]time.Duration{
			100 * time.Millisecond, time.Millisecond, time.Second, 10 * time.Millisecond, 12345 * time.Microsecond, time.Microsecond + 1,
		}).Draw(t, "period"),
		PodPidsLimit:            rapid.SampledFrom([]int64{-1, 0, 1, 100}).Draw(t, "pids"),
		MemoryReservationPolicy: rapid.SampledFrom([]string{"None", "TieredReservation"}).Draw(t, "policy"),
	}
	// Before 1.37 the defaults set the factor.
	if rapid.Bool().Draw(t, "throttling") || check.Minor(t) < 37 {
		factor := rapid.SampledFrom([]float64{0.9, 1, 0.1, 0.333}).Draw(t, "factor")
		o.MemoryThrottlingFactor = &factor
	}
	return o
}

// configOf is the configuration that has the options.
func configOf(t *rapid.T, o pod.CgroupOptions, g kubelet.Gates) *kubelet.Config {
	cfg, err := kubelet.Load(kubelet.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Gates = g
	cfg.CPUCFSQuota, cfg.CPUCFSQuotaPeriod = &o.CPUCFSQuota, &metav1.Duration{Duration: o.CPUCFSQuotaPeriod}
	cfg.PodPidsLimit, cfg.MemoryThrottlingFactor = &o.PodPidsLimit, o.MemoryThrottlingFactor
	cfg.MemoryReservationPolicy = kubeletv1beta1.MemoryReservationPolicy(o.MemoryReservationPolicy)
	return cfg
}

func quantityOf(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.BinarySI) }

// asked is what kqos says that the kubelet asks the runtime for.
func asked(t *rapid.T, in containerInput, c *corev1.Container, g kubelet.Gates) runtime.Resources {
	cfg := configOf(t, in.Node.CgroupOptions, g)
	cfg.MemorySwap.SwapBehavior, cfg.SingleProcessOOMKill = in.Node.SwapBehavior, &in.Node.SingleProcess
	s := cgroups.ContainerSettings(in.Pod, c, cgroups.Node{
		Config:   cfg,
		Platform: cgroups.Platform{Driver: cgroups.Cgroupfs, Version: in.Node.CgroupVersion, PageSizes: in.Node.PageSizes},
		Capacity: corev1.ResourceList{"memory": quantityOf(in.Node.MemoryCapacity), allocatable.ResourceSwap: quantityOf(in.Node.SwapCapacity)},
		Result:   &allocatable.Result{Absolute: corev1.ResourceList{"memory": quantityOf(in.Node.AllocatableMemory)}},
	}, cgroups.Assignment{Exclusive: in.Exclusive})
	r := runtime.Resources{
		OOMScoreAdj:    qos.OOMScoreAdj(in.Pod, c, in.Node.MemoryCapacity, g),
		HugepageLimits: map[string]uint64{}, Unified: map[string]string{},
	}
	r.CPUShares = int64(s.CPUShares.Is)
	if s.CPUPeriod != nil {
		r.CPUPeriod, r.CPUQuota = int64(s.CPUPeriod.Is), s.CPUQuota.Is
	}
	if s.Memory != nil {
		r.Memory = s.Memory.Is
	}
	if s.MemorySwap != nil && in.Node.CgroupVersion == 1 {
		r.MemorySwap = s.MemorySwap.Is
	}
	for size, limit := range s.HugePages {
		name, _ := cgroups.PageSizeName(size)
		r.HugepageLimits[name] = uint64(limit.Is)
	}
	if in.Node.CgroupVersion == 2 {
		for file, value := range s.Unified {
			r.Unified[file] = value.Is
		}
	}
	return r
}

func TestContainers(t *testing.T) {
	check.Property(t, 4000, func(t *rapid.T) {
		in := containerInput{
			Pod: check.Pod(t), FeatureGates: gen.KnownGates(podGates()).Draw(t, "gates"),
			Exclusive: rapid.IntRange(0, 4).Draw(t, "exclusive") == 0, Node: drawNode(t),
		}
		g, ok := setGates(t, in.FeatureGates)
		if !ok {
			return
		}
		want, got := map[string]runtime.Resources{}, map[string]runtime.Resources{}
		for _, c := range pod.Containers(in.Pod) {
			// Whose CPUs they are has its own property.
			want[c.Name] = runtime.Container(in.Pod, &c, in.Node, qos.Isolated(in.Pod, &c, in.Exclusive, g))
			got[c.Name] = asked(t, in, &c, g)
		}
		check.Equal(t, in, want, got)
	})
}
