package cgroups

import (
	"fmt"
	"math"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
)

// memoryRules is what kubelets of one minor version do with memory.min,
// memory.low and memory.high on v2.
//
// kubelet v1.34 to v1.37: cm/helpers_linux.go, cm/qos_container_manager_linux.go,
// kuberuntime/kuberuntime_container_linux.go.
type memoryRules struct {
	// policy says that memoryReservationPolicy decides. Before it existed, the
	// gate alone put every memory request into memory.min.
	policy bool
	// lowAtRoot gives kubepods memory.low of the Burstable pods too.
	lowAtRoot bool
	// resets writes 0 and max over what an earlier configuration may have left.
	resets bool
	// podHigh throttles pods with pod-level resources, and with them the
	// containers that have no limit; bestEffortHigh throttles containers that
	// have neither request nor limit.
	podHigh, bestEffortHigh bool
}

func rulesOf(cfg *kubelet.Config) memoryRules {
	switch {
	case cfg.Gates.Since(37):
		return memoryRules{policy: true, lowAtRoot: true, resets: true, podHigh: true, bestEffortHigh: true}
	case cfg.Gates.Since(36):
		return memoryRules{policy: true}
	}
	return memoryRules{}
}

// protection is how memory requests are shielded from reclaim.
type protection int

const (
	// unprotected leaves them to the kernel.
	unprotected protection = iota
	// minOnly puts all of them into memory.min.
	minOnly
	// tiered puts those of Guaranteed pods into memory.min, which the kernel never
	// reclaims, and those of others into memory.low.
	tiered
)

func protectionOf(cfg *kubelet.Config) protection {
	switch rules := rulesOf(cfg); {
	case !cfg.Gates.Enabled(kubelet.GateMemoryQoS):
		return unprotected
	case !rules.policy:
		return minOnly
	case cfg.MemoryReservationPolicy == kubeletv1beta1.TieredReservationMemoryReservationPolicy:
		return tiered
	}
	return unprotected
}

// why names what asks for the protection.
func (p protection) why() string {
	if p == minOnly {
		return "gate MemoryQoS"
	}
	return "memoryReservationPolicy TieredReservation"
}

// file is where the request of a pod of the class goes; "" for nowhere.
func (p protection) file(class corev1.PodQOSClass) string {
	switch {
	case p == unprotected:
		return ""
	case p == minOnly || class == corev1.PodQOSGuaranteed:
		return memoryMin
	}
	return memoryLow
}

// protectPod shields the pod's memory request.
func protectPod(s *Settings, requests corev1.ResourceList, class corev1.PodQOSClass, cfg *kubelet.Config) {
	request := requests[corev1.ResourceMemory]
	p := protectionOf(cfg)
	if file := p.file(class); file != "" && request.Value() > 0 {
		s.unify(file, strconv.FormatInt(request.Value(), 10), fmt.Sprintf("%s: the pod's memory request %s", p.why(), &request))
	}
}

// throttlePod sets memory.high of a pod with pod-level resources. Unlike
// PodSettings it leaves out what DRA claims add.
//
// kubelet v1.37: cm/helpers_linux.go ApplyPodLevelMemoryHigh.
func throttlePod(s *Settings, pod *corev1.Pod, cfg *kubelet.Config) {
	factor := cfg.MemoryThrottlingFactor
	if factor == nil || !rulesOf(cfg).podHigh || !cfg.Gates.Enabled(kubelet.GateMemoryQoS) || !qos.PodLevelSet(pod, cfg.Gates) {
		return
	}
	if _, limited := limitsDeclared(pod, cfg.Gates); !limited {
		return
	}
	request := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})[corev1.ResourceMemory]
	limit := resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{})[corev1.ResourceMemory]
	if limit.Value() == 0 || request.Value() == limit.Value() {
		return
	}
	if high := throttleAt(request.Value(), limit.Value(), *factor); high > 0 {
		s.unify(memoryHigh, strconv.FormatInt(high, 10),
			fmt.Sprintf("memoryThrottlingFactor %v between the pod's memory request %s and limit %s", *factor, &request, &limit))
	}
}

// throttleAt is memory.high in bytes: the factor's way from request to limit, in
// whole pages; 0 where that is not above the request.
//
// kubelet v1.37: cm/helpers_linux.go memoryHighForPod.
func throttleAt(request, limit int64, factor float64) int64 {
	at := float64(request) + (float64(limit)-float64(request))*factor
	high := int64(math.Floor(at/pageSize)) * pageSize
	if high <= 0 || high <= request {
		return 0
	}
	return high
}

// protectContainer sets memory.min, memory.low and memory.high.
//
// kubelet v1.37: kuberuntime/kuberuntime_container_linux.go
// generateLinuxContainerResources.
func protectContainer(s *Settings, pod *corev1.Pod, c *corev1.Container, node Node, limits containerLimits) {
	cfg, rules := node.Config, rulesOf(node.Config)
	if !cfg.Gates.Enabled(kubelet.GateMemoryQoS) {
		if rules.resets {
			s.unify(memoryHigh, "max", "the gate MemoryQoS is off")
		}
		return
	}
	request := c.Resources.Requests.Memory()
	p := protectionOf(cfg)
	file := p.file(qos.Class(pod, cfg.Gates))
	switch {
	case file != "" && request.Value() != 0:
		s.unify(file, strconv.FormatInt(request.Value(), 10), fmt.Sprintf("%s: the container's memory request %s", p.why(), request))
	case rules.policy:
		s.unify(memoryMin, "0", "memoryReservationPolicy protects no memory of the container")
		s.unify(memoryLow, "0", "memoryReservationPolicy protects no memory of the container")
	}
	if high, why := containerHigh(request.Value(), c, node, limits); high > 0 {
		s.unify(memoryHigh, strconv.FormatInt(high, 10), why)
	}
}

// containerHigh is memory.high, 0 for none: between request and limit, where an
// unlimited container counts the node's allocatable memory as its limit.
func containerHigh(request int64, c *corev1.Container, node Node, limits containerLimits) (int64, string) {
	rules := rulesOf(node.Config)
	factor := node.Config.MemoryThrottlingFactor
	own := c.Resources.Limits.Memory().Value()
	if factor == nil || request == own && (own != 0 || !rules.bestEffortHigh) {
		return 0, ""
	}
	if own != 0 {
		limit, why := limits.of(corev1.ResourceMemory)
		return throttleAt(request, limit.Value(), *factor), fmt.Sprintf("memoryThrottlingFactor %v between memory request and %s", *factor, why)
	}
	if rules.podHigh && limits.podLevel && !limits.pod.Spec.Resources.Limits.Memory().IsZero() {
		return 0, ""
	}
	allocatable, _ := amount(node.Result.Absolute, corev1.ResourceMemory)
	if allocatable <= 0 {
		return 0, ""
	}
	return throttleAt(request, allocatable, *factor), fmt.Sprintf("memoryThrottlingFactor %v between memory request and the node's allocatable memory %d", *factor, allocatable)
}
