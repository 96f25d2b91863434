package kubelet

import kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"

// The policies of cpuManagerPolicy. None is the default; static gives whole CPUs
// to containers of Guaranteed pods.
//
// kubelet v1.37: cm/cpumanager/policy_none.go, cm/cpumanager/policy_static.go.
const (
	CPUPolicyNone   = "none"
	CPUPolicyStatic = "static"
)

// OptionStrictReservation of cpuManagerPolicyOptions keeps the reserved CPUs out of
// the shared pool.
const OptionStrictReservation = "strict-cpu-reservation"

// The policies of memoryManagerPolicy, in capitals unlike the CPU manager's. None
// is the default; Static pins memory to NUMA nodes; BestEffort is for Windows.
//
// kubelet v1.37: cm/memorymanager/policy_none.go, cm/memorymanager/policy_static.go,
// cm/memorymanager/policy_best_effort.go.
const (
	MemoryPolicyNone       = kubeletv1beta1.NoneMemoryManagerPolicy
	MemoryPolicyStatic     = kubeletv1beta1.StaticMemoryManagerPolicy
	MemoryPolicyBestEffort = "BestEffort"
)

// The policies of topologyManagerPolicy, from what never refuses a pod to what
// refuses most. None is the default.
const (
	TopologyPolicyNone           = kubeletv1beta1.NoneTopologyManagerPolicy
	TopologyPolicyBestEffort     = kubeletv1beta1.BestEffortTopologyManagerPolicy
	TopologyPolicyRestricted     = kubeletv1beta1.RestrictedTopologyManagerPolicy
	TopologyPolicySingleNUMANode = kubeletv1beta1.SingleNumaNodeTopologyManagerPolicy
)

// The scopes of topologyManagerScope: what is placed as one. Container is the
// default.
const (
	TopologyScopeContainer = kubeletv1beta1.ContainerTopologyManagerScope
	TopologyScopePod       = kubeletv1beta1.PodTopologyManagerScope
)
