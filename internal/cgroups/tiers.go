package cgroups

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
)

// sums are what the kubelet adds up over its active pods, in millicores and
// bytes. They wrap like the kubelet's.
type sums struct {
	burstableCPU, guaranteedMemory, burstableMemory int64
}

// sumPods adds up effective requests. The memory sums take pod-level requests
// even with the gate PodLevelResources off.
//
// kubelet v1.37: cm/qos_container_manager_linux.go setCPUCgroupConfig,
// getQoSMemoryRequests.
func sumPods(node Node, pods []*corev1.Pod) sums {
	g := node.Config.Gates
	var t sums
	for _, pod := range pods {
		class := qos.Class(pod, g)
		memory := qos.PodRequests(pod, resourcehelper.PodResourcesOptions{
			UseDRANodeAllocatableResourceClaimStatus: g.Enabled(kubelet.GateDRANodeAllocatable),
		})[corev1.ResourceMemory]
		switch class {
		case corev1.PodQOSGuaranteed:
			t.guaranteedMemory += memory.Value()
		case corev1.PodQOSBurstable:
			cpu := qos.Requests(pod, g)[corev1.ResourceCPU]
			t.burstableCPU += cpu.MilliValue()
			t.burstableMemory += memory.Value()
		}
	}
	return t
}

// tierSettings are what kubepods, burstable and besteffort have once the
// kubelet has started and its tier loop has run, kubepods as an addition to what
// enforcement sets on it.
type tierSettings struct {
	kubepods, burstable, bestEffort Settings
}

// kubelet v1.37: cm/qos_container_manager_linux.go Start, UpdateCgroups.
func tiers(node Node, t sums) tierSettings {
	s := tierSettings{
		kubepods:   Settings{HugePages: node.unlimitedHugePages()},
		burstable:  Settings{HugePages: node.unlimitedHugePages()},
		bestEffort: Settings{HugePages: node.unlimitedHugePages()},
	}
	s.bestEffort.CPUShares = set[uint64](MinShares, "besteffort always has the least shares")
	s.burstable.CPUShares = set(MilliCPUToShares(t.burstableCPU),
		fmt.Sprintf("cpu requests of the Burstable pods: %dm", t.burstableCPU))
	s.burstable.CPUShares.Unknown = node.Incomplete
	protectTiers(node, &s, t)
	if percent, ok := node.Result.QOSReserved[corev1.ResourceMemory]; ok && node.Config.Gates.Enabled(gateQOSReserved) {
		reserveForQoS(node, &s, t, percent)
	}
	return s
}

// protectTiers gives the ancestors of protected pods the sum of what they
// protect, without which the kernel would not honour it.
//
// kubelet v1.37: cm/qos_container_manager_linux.go setMemoryQoS, Start.
func protectTiers(node Node, s *tierSettings, t sums) {
	rules, p := rulesOf(node.Config), protectionOf(node.Config)
	sum := func(to *Settings, file string, amount int64, of string) {
		to.unify(file, strconv.FormatInt(amount, 10), fmt.Sprintf("%s: memory requests of the %s pods", p.why(), of))
		v := to.Unified[file]
		v.Unknown = node.Incomplete
		to.Unified[file] = v
	}
	const all = "Guaranteed and Burstable"
	switch {
	case p == tiered:
		sum(&s.kubepods, memoryMin, t.guaranteedMemory+t.burstableMemory, all)
		sum(&s.burstable, memoryLow, t.burstableMemory, "Burstable")
		if rules.lowAtRoot {
			sum(&s.kubepods, memoryLow, t.burstableMemory, "Burstable")
		}
	case p == minOnly:
		if t.burstableMemory > 0 || node.Incomplete != "" {
			sum(&s.burstable, memoryMin, t.burstableMemory, "Burstable")
		}
		if t.guaranteedMemory+t.burstableMemory > 0 || node.Incomplete != "" {
			sum(&s.kubepods, memoryMin, t.guaranteedMemory+t.burstableMemory, all)
		}
	case rules.resets || node.Config.Gates.Enabled(kubelet.GateMemoryQoS):
		why := "memoryReservationPolicy protects no memory of the tier"
		s.kubepods.unify(memoryMin, "0", why)
		s.burstable.unify(memoryLow, "0", why)
		if rules.resets {
			s.kubepods.unify(memoryLow, "0", why)
		}
	}
}

// reserveForQoS limits the lower tiers so that a share of what the higher ones
// request stays free. The results are not floored: one of exactly 0 is not
// written, -1 means no limit.
//
// kubelet v1.37: cm/qos_container_manager_linux.go setMemoryReserve.
func reserveForQoS(node Node, s *tierSettings, t sums, percent int64) {
	allocatable, _ := amount(node.Result.Absolute, corev1.ResourceMemory)
	if allocatable == 0 {
		return
	}
	burstable := allocatable - t.guaranteedMemory*percent/100
	bestEffort := burstable - t.burstableMemory*percent/100
	s.burstable.Memory = set(burstable, fmt.Sprintf("qosReserved memory %d%%: allocatable %d less that share of the Guaranteed pods' requests", percent, allocatable))
	s.bestEffort.Memory = set(bestEffort, fmt.Sprintf("qosReserved memory %d%%: the burstable limit less that share of the Burstable pods' requests", percent))
	if percent != 0 {
		s.burstable.Memory.Unknown, s.bestEffort.Memory.Unknown = node.Incomplete, node.Incomplete
	}
}

// unlimitedHugePages lifts the limit of each page size of the node.
//
// kubelet v1.37: cm/qos_container_manager_linux.go setHugePagesUnbounded.
func (n Node) unlimitedHugePages() map[int64]Value[int64] {
	limits := map[int64]Value[int64]{}
	for _, name := range n.PageSizes {
		limits[int64(hugePageBytes(name))] = Value[int64]{Is: unlimitedHugePages, Why: "the tier loop lifts the limit of each page size: 2^62"}
	}
	return limits
}
