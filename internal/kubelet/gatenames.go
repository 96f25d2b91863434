package kubelet

// Feature gates that more than one package asks for.
//
// kubelet v1.37: pkg/features/kube_features.go.
const (
	// GatePodLevelResources lets a pod as a whole have requests and limits.
	GatePodLevelResources = "PodLevelResources"
	// GateFixKubeletQOSClass takes the class of a pod whose own resources are empty
	// from its containers.
	GateFixKubeletQOSClass = "PodLevelResourcesFixKubeletQOSClass"
	// GatePodLevelManagers places such a pod as a whole.
	GatePodLevelManagers = "PodLevelResourceManagers"
	// GatePodLevelResize lets them change while the pod runs.
	GatePodLevelResize = "InPlacePodLevelResourcesVerticalScaling"
	// GateDRANodeAllocatable counts cpu and memory that a pod claims through DRA.
	GateDRANodeAllocatable = "DRANodeAllocatableResources"
	// GateExclusiveResize lets exclusive CPUs be resized: the state file then keeps
	// what a container had at first.
	GateExclusiveResize = "InPlacePodVerticalScalingExclusiveCPUs"
	// GateMemoryQoS sets memory.min, memory.low and memory.high.
	GateMemoryQoS = "MemoryQoS"
	// GateCustomPeriod lets cpuCFSQuotaPeriod differ from 100 ms.
	GateCustomPeriod = "CustomCPUCFSQuotaPeriod"
)
