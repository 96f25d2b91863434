package topologymanager

import corev1 "k8s.io/api/core/v1"

// Provider is a manager of one kind of resource, as the topology manager asks
// it. The affinity that the kubelet's providers look up in the topology
// manager's store is passed to them here; under policy none it is the zero
// Hint.
//
// An error of Hints and PodHints is always a *CrashError. Allocate and
// AllocatePod return a *RefusalError where the kubelet names a reason of its
// own, a *CrashError where the kubelet would crash, and any other error, with
// the kubelet's text, where the kubelet reports UnexpectedAdmissionError.
type Provider interface {
	// Name is cpu, memory or device.
	Name() string
	// Hints are for one container.
	Hints(pod *corev1.Pod, container *corev1.Container) (Hints, error)
	// PodHints are for the pod as a whole, in pod scope.
	PodHints(pod *corev1.Pod) (Hints, error)
	// Allocate gives the container what it asks for.
	Allocate(pod *corev1.Pod, container *corev1.Container, affinity Hint) error
	// AllocatePod gives a pod with pod-level resources its own, in pod scope.
	AllocatePod(pod *corev1.Pod, affinity Hint) error
}

// Reasons of a refused pod.
// kubelet v1.37: cm/admission/errors.go, cm/topologymanager/topology_manager.go,
// cm/cpumanager/policy_static.go
const (
	ReasonTopologyAffinity   = "TopologyAffinityError"
	ReasonSMTAlignment       = "SMTAlignmentError"
	ReasonEmptyPodSharedPool = "EmptyPodSharedPoolError"
	ReasonUnexpected         = "UnexpectedAdmissionError"
)

// RefusalError refuses a pod with a reason of the kubelet's own.
type RefusalError struct {
	Reason, Message string
}

func (e *RefusalError) Error() string { return e.Message }

// CrashError says that the kubelet's code crashes, or never ends, at this
// point.
type CrashError struct {
	// Message is what the crashed process prints, such as "runtime error:
	// invalid memory address or nil pointer dereference".
	Message string
	// Why says in a sentence what leads there.
	Why string
}

func (e *CrashError) Error() string { return e.Message + ": " + e.Why }
