package cgroups

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
)

// Feature gates that decide cgroup settings alone.
const (
	gateQOSReserved      = "QOSReserved"
	gateNoQuotaExclusive = "DisableCPUQuotaWithExclusiveCPUs"
)

// pageSize is the kernel's page size, to which the kubelet rounds memory.high:
// that of amd64 and of arm64 as distributions build it.
const pageSize = 4096

// PodSettings is what the kubelet sets on the pod's own cgroup when it creates
// it. exclusive says that a container of the pod holds exclusive CPUs, which
// lifts the CPU quota of the whole pod.
//
// kubelet v1.37: cm/pod_container_manager_linux.go EnsureExists,
// cm/helpers_linux.go ResourceConfigForPod.
func PodSettings(pod *corev1.Pod, cfg *kubelet.Config, exclusive bool) Settings {
	g := cfg.Gates
	class := qos.Class(pod, g)
	requests, limits := qos.Requests(pod, g), qos.Limits(pod, g)
	cpuLimited, memoryLimited := limitsDeclared(pod, g)
	guaranteed := class == corev1.PodQOSGuaranteed

	s := Settings{HugePages: hugePageLimits(requests, "the pod's request")}
	if guaranteed || class == corev1.PodQOSBurstable {
		s.CPUShares = cpuShares(requests)
	} else { // a class that no pod has, in a status written by hand, counts as BestEffort
		s.CPUShares = set[uint64](MinShares, "a BestEffort pod always gets the least shares")
	}
	if guaranteed || class == corev1.PodQOSBurstable && cpuLimited {
		s.CPUQuota, s.CPUPeriod = podQuota(limits, cfg, exclusive && g.Enabled(gateNoQuotaExclusive))
	}
	if guaranteed || class == corev1.PodQOSBurstable && memoryLimited {
		limit := limits[corev1.ResourceMemory]
		s.Memory = set(limit.Value(), fmt.Sprintf("the pod's memory limit %s", &limit))
	}
	if n := cfg.PodPidsLimit; n != nil && *n > 0 {
		s.PidsLimit = set(*n, "podPidsLimit")
	}
	protectPod(&s, requests, class, cfg)
	throttlePod(&s, pod, cfg)
	return s
}

// cpuShares converts the sum of cpu requests.
func cpuShares(requests corev1.ResourceList) *Value[uint64] {
	request := requests[corev1.ResourceCPU]
	return set(MilliCPUToShares(request.MilliValue()), fmt.Sprintf("the pod's cpu request %s", &request))
}

func podQuota(limits corev1.ResourceList, cfg *kubelet.Config, exclusive bool) (*Value[int64], *Value[uint64]) {
	limit := limits[corev1.ResourceCPU]
	micros, formula := periods(cfg)
	period := set(micros, "cpuCFSQuotaPeriod")
	switch {
	case !enforcesQuota(cfg):
		return set[int64](-1, "cpuCFSQuota is false"), period
	case exclusive:
		return set[int64](-1, "a container of the pod holds exclusive CPUs"), period
	}
	return set(MilliCPUToQuota(limit.MilliValue(), formula), fmt.Sprintf("the pod's cpu limit %s in cpuCFSQuotaPeriod %dµs", &limit, micros)), period
}

func enforcesQuota(cfg *kubelet.Config) bool { return cfg.CPUCFSQuota == nil || *cfg.CPUCFSQuota }

// periods gives the CFS period in µs that is written, and the one that quotas
// are computed for: without the gate that is 100 ms whatever is written.
//
// kubelet v1.37: cm/helpers_linux.go MilliCPUToQuota.
func periods(cfg *kubelet.Config) (written uint64, formula int64) {
	written = defaultPeriod
	if cfg.CPUCFSQuotaPeriod != nil {
		written = uint64(cfg.CPUCFSQuotaPeriod.Duration / time.Microsecond)
	}
	if !cfg.Gates.Enabled(kubelet.GateCustomPeriod) {
		return written, defaultPeriod
	}
	return written, int64(written)
}

// limitsDeclared tells for cpu and memory whether the pod's limit binds: every
// init and app container has one, or the pod itself. Before 1.37 an init
// container that has none counts as having that of a sidecar started before it.
//
// kubelet v1.37: cm/helpers_linux.go ResourceConfigForPod; v1.36 and before: the
// same and component-helpers resource/helpers.go AggregateContainerLimits.
func limitsDeclared(pod *corev1.Pod, g kubelet.Gates) (cpu, memory bool) {
	cpu, memory = true, true
	summed := !g.Since(37)
	var sidecarCPU, sidecarMemory bool
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		limitsCPU := !c.Resources.Limits.Cpu().IsZero() || summed && sidecarCPU
		limitsMemory := !c.Resources.Limits.Memory().IsZero() || summed && sidecarMemory
		cpu, memory = cpu && limitsCPU, memory && limitsMemory
		if qos.IsSidecar(c) {
			sidecarCPU, sidecarMemory = limitsCPU, limitsMemory
		}
	}
	for i := range pod.Spec.Containers {
		limits := pod.Spec.Containers[i].Resources.Limits
		cpu, memory = cpu && !limits.Cpu().IsZero(), memory && !limits.Memory().IsZero()
	}
	if g.Enabled(kubelet.GatePodLevelResources) && resourcehelper.IsPodLevelResourcesSet(pod) {
		cpu = cpu || !pod.Spec.Resources.Limits.Cpu().IsZero()
		memory = memory || !pod.Spec.Resources.Limits.Memory().IsZero()
	}
	return cpu, memory
}
