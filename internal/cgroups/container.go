package cgroups

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
)

// ContainerSettings is what the kubelet asks of the container runtime for a
// container of the pod, and where its managers placed it. The unified files and
// MemorySwap exclude each other by cgroup version; rendering picks.
//
// kubelet v1.37: kuberuntime/kuberuntime_container_linux.go
// generateLinuxContainerResources.
func ContainerSettings(pod *corev1.Pod, c *corev1.Container, node Node, at Assignment) Settings {
	cfg := node.Config
	limits := containerLimits{pod: pod, container: c, podLevel: qos.PodLevelSet(pod, cfg.Gates)}
	if cfg.Gates.Enabled(kubelet.GateDRANodeAllocatable) {
		limits.claimed = resourcehelper.GetContainerDRAAllocations(pod, c.Name)
	}
	s := Settings{Runtime: true, CPUShares: containerShares(c, limits)}
	if memory, why := limits.of(corev1.ResourceMemory); memory.Value() != 0 {
		s.Memory = set(memory.Value(), why)
		s.MemorySwap = set(memory.Value(), why+": no swap beyond it")
	}
	if enforcesQuota(cfg) {
		_, period := periods(cfg)
		s.CPUPeriod = set(uint64(period), "cpuCFSQuotaPeriod")
		cpu, why := limits.of(corev1.ResourceCPU)
		s.CPUQuota = set(MilliCPUToQuota(cpu.MilliValue(), period), why)
		if qos.Isolated(pod, c, at.Exclusive, cfg.Gates) && cfg.Gates.Enabled(gateNoQuotaExclusive) {
			s.CPUQuota = set[int64](-1, "the container holds exclusive CPUs")
		}
	}
	s.HugePages = limits.hugePages(node.PageSizes)
	if cfg.SingleProcessOOMKill == nil || !*cfg.SingleProcessOOMKill {
		s.unify(memoryOOMGroup, "1", "singleProcessOOMKill is not true")
	}
	swapLimit(&s, pod, c, node)
	protectContainer(&s, pod, c, node, limits)
	if !at.CPUs.IsEmpty() {
		s.CPUs = set(at.CPUs, assignedWhy(pod, c, at, cfg.Gates))
	}
	if !at.Mems.IsEmpty() {
		s.Mems = set(at.Mems, "memoryManagerPolicy Static: NUMA nodes of the container")
	}
	return s
}

func assignedWhy(pod *corev1.Pod, c *corev1.Container, at Assignment, g kubelet.Gates) string {
	switch {
	case qos.Isolated(pod, c, at.Exclusive, g):
		return "cpuManagerPolicy static: exclusive CPUs of the container"
	case at.Exclusive:
		return "cpuManagerPolicy static: CPUs that containers of the pod share"
	}
	return "cpuManagerPolicy static: the shared pool"
}

// containerShares come from the request, else from the limit, the pod's where
// the container has none.
func containerShares(c *corev1.Container, limits containerLimits) *Value[uint64] {
	if request, ok := c.Resources.Requests[corev1.ResourceCPU]; ok {
		return set(MilliCPUToShares(request.MilliValue()), fmt.Sprintf("the container's cpu request %s", &request))
	}
	// A claim raises the limit, yet not what stands for the missing request.
	limits.claimed = nil
	limit, why := limits.of(corev1.ResourceCPU)
	return set(MilliCPUToShares(limit.MilliValue()), "no cpu request, so "+why)
}

// containerLimits finds the limits of a container.
type containerLimits struct {
	pod       *corev1.Pod
	container *corev1.Container
	// podLevel says that the pod's own limits stand in for missing ones.
	podLevel bool
	// claimed is what DRA claims add.
	claimed corev1.ResourceList
}

// kubelet v1.37: kuberuntime/kuberuntime_container_linux.go getCPULimit,
// getMemoryLimit.
func (l containerLimits) of(name corev1.ResourceName) (resource.Quantity, string) {
	limit := l.container.Resources.Limits[name]
	if limit.IsZero() && l.podLevel {
		if limit = l.pod.Spec.Resources.Limits[name]; !limit.IsZero() {
			return limit, fmt.Sprintf("the pod-level %s limit %s", name, &limit)
		}
	}
	if limit.IsZero() {
		return limit, fmt.Sprintf("the container has no %s limit", name)
	}
	why := fmt.Sprintf("the container's %s limit %s", name, &limit)
	if claimed := l.claimed[name]; !claimed.IsZero() {
		limit = limit.DeepCopy()
		limit.Add(claimed)
		why += fmt.Sprintf(" and its claims of %s", &claimed)
	}
	return limit, why
}

// hugePages limits each page size of the node: to 0, unless the pod, over it the
// container, or a claim says otherwise.
//
// kubelet v1.37: kuberuntime/kuberuntime_container_linux.go
// GetHugepageLimitsFromResources.
func (l containerLimits) hugePages(sizes []string) map[int64]Value[int64] {
	own := hugePageLimits(l.container.Resources.Limits, "the container's limit")
	ofPod := map[int64]Value[int64]{}
	if l.podLevel {
		ofPod = hugePageLimits(l.pod.Spec.Resources.Limits, "the pod-level limit")
	}
	claimed := hugePageLimits(l.claimed, "claims")
	limits := map[int64]Value[int64]{}
	for _, name := range sizes {
		size := int64(hugePageBytes(name))
		limit, limited := own[size]
		fromPod, podLimited := ofPod[size]
		claim, isClaimed := claimed[size]
		switch {
		case limited && isClaimed:
			limit = Value[int64]{Is: limit.Is + claim.Is, Why: limit.Why + " and " + claim.Why}
		case limited:
		case podLimited:
			limit = fromPod
		case isClaimed:
			limit = claim
		default:
			limit.Why = "no limit of this page size is 0"
		}
		limits[size] = limit
	}
	return limits
}

// swapLimit allows swap in proportion to the memory request under LimitedSwap,
// else none.
//
// kubelet v1.37: kuberuntime/kuberuntime_container_linux.go
// GetContainerSwapBehavior, calcSwapForBurstablePods.
func swapLimit(s *Settings, pod *corev1.Pod, c *corev1.Container, node Node) {
	if why := noSwapWhy(pod, c, node.Config); why != "" {
		s.unify(memorySwapMax, "0", why)
		return
	}
	request := c.Resources.Requests.Memory()
	memory, known := amount(node.Capacity, corev1.ResourceMemory)
	swap, swapKnown := amount(node.Capacity, allocatable.ResourceSwap)
	switch {
	case !known || !swapKnown:
		s.unify(memorySwapMax, "0", "LimitedSwap")
		s.Unified[memorySwapMax] = Value[string]{Unknown: "LimitedSwap shares out the machine's swap by its memory, and not both are known: set --capacity memory=…,swap=…"}
		return
	case memory <= 0 || request.Value() > memory:
		s.unify(memorySwapMax, "0", "LimitedSwap: the memory request is more than the machine has")
		return
	}
	share := int64(float64(request.Value()) / float64(memory) * float64(swap))
	s.unify(memorySwapMax, strconv.FormatInt(share, 10), fmt.Sprintf("LimitedSwap: memory request %s of %d, times %d bytes of swap", request, memory, swap))
}

// noSwapWhy says why the container gets no swap; empty if it may get some.
func noSwapWhy(pod *corev1.Pod, c *corev1.Container, cfg *kubelet.Config) string {
	request, limit := c.Resources.Requests.Memory(), c.Resources.Limits.Memory()
	switch {
	case cfg.MemorySwap.SwapBehavior != "LimitedSwap":
		return "memorySwap.swapBehavior is not LimitedSwap"
	case qos.IsCritical(pod):
		return "LimitedSwap: a critical pod gets none"
	case qos.Class(pod, cfg.Gates) != corev1.PodQOSBurstable:
		return "LimitedSwap: only Burstable pods get some"
	case request.IsZero() && limit.IsZero():
		return "LimitedSwap: the container asks for no memory"
	case request.Cmp(*limit) == 0:
		return "LimitedSwap: memory request and limit are equal"
	}
	return ""
}
