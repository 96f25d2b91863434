package admission

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/kqos/kqos/internal/kubelet"
)

// Reading says how a pod comes to the kubelet.
type Reading string

// The readings of a pod.
const (
	// Created is the pod as the API server stores it at creation.
	Created Reading = "created"
	// Static is the pod as the kubelet reads it from its static pod folder.
	Static Reading = "static"
	// AsWritten is the object as it stands, its status believed.
	AsWritten Reading = "as-written"
)

// Objects are the cluster's objects that admission plugins consult.
type Objects struct {
	LimitRanges     []*corev1.LimitRange
	RuntimeClasses  []*nodev1.RuntimeClass
	PriorityClasses []*schedulingv1.PriorityClass
}

// Admit reads the pod in that way and tells what the API server or the kubelet
// would refuse and what could not be known, each a sentence.
func Admit(pod *corev1.Pod, reading Reading, objects Objects, g kubelet.Gates) []string {
	switch reading {
	case Static:
		return readStatic(pod, g)
	case AsWritten:
		return append(invalidNames(pod, ""), invalidResources(pod, g)...)
	}
	return create(pod, objects, g)
}

// create follows the API server: the decoder's defaults, the mutating plugins
// in their order, the strategy, then the validating plugins.
//
// kubernetes v1.37: pkg/kubeapiserver/options/plugins.go AllOrderedPlugins.
func create(pod *corev1.Pod, objects Objects, g kubelet.Gates) []string {
	setDefaults(pod, g)
	warnings := applyLimitRanges(pod, objects.LimitRanges)
	warnings = append(warnings, resolvePriority(pod, objects.PriorityClasses)...)
	warnings = append(warnings, applyRuntimeClass(pod, objects.RuntimeClasses)...)
	prepareForCreate(pod, g)
	warnings = append(warnings, invalidNames(pod, "")...)
	warnings = append(warnings, invalidResources(pod, g)...)
	return append(warnings, limitRangeViolations(pod, objects.LimitRanges, g)...)
}

// refused words what the API server would answer.
func refused(why string) string { return "the API server would refuse the pod: " + why }
