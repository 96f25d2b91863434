package admission

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kqos/kqos/internal/quantity"
)

// invalidName tells why a container, or the overhead, can't have a resource of
// that name, or "".
//
// kubernetes v1.37: pkg/apis/core/validation/validation.go
// ValidateContainerResourceName.
func invalidName(name corev1.ResourceName) string {
	switch {
	case name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage:
		return ""
	case len(validation.IsQualifiedName(string(name))) > 0:
		return strings.Join(validation.IsQualifiedName(string(name)), "; ")
	case !strings.Contains(string(name), "/") && !quantity.IsHugePages(name):
		return "must be a standard resource for containers: cpu, memory, ephemeral-storage or hugepages-SIZE; all others are DOMAIN/NAME"
	case !native(name) && !extended(name):
		return "doesn't follow the extended resource name standard: the domain can't start with requests. and is shorter than 246 characters"
	}
	return ""
}

// invalidPodLevelName is the same for spec.resources.
//
// kubernetes v1.37: pkg/apis/core/validation/validation.go validatePodResourceName.
func invalidPodLevelName(name corev1.ResourceName) string {
	switch {
	case name == corev1.ResourceCPU || name == corev1.ResourceMemory:
		return ""
	case len(validation.IsQualifiedName(string(name))) > 0:
		return strings.Join(validation.IsQualifiedName(string(name)), "; ")
	case !resourcehelper.IsSupportedPodLevelResource(name):
		return "a pod as a whole has cpu, memory and hugepages-SIZE alone"
	}
	return ""
}

// native tells the resources of Kubernetes itself from extended ones.
//
// kubernetes v1.37: pkg/apis/core/helper/helpers.go IsNativeResource.
func native(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// extended tells a name that a device plugin or an administrator may give.
//
// kubernetes v1.37: pkg/apis/core/helper/helpers.go IsExtendedResourceName.
func extended(name corev1.ResourceName) bool {
	return !native(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

// wholePages tells whether the amount is a number of pages of the size that the
// name says.
//
// kubernetes v1.37: pkg/apis/core/helper/helpers.go IsHugePageResourceValueDivisible.
func wholePages(name corev1.ResourceName, q resource.Quantity) bool {
	size, err := quantity.Parse(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
	if err != nil || size.Sign() <= 0 || size.MilliValue()%1000 != 0 {
		return false
	}
	return q.Value()%size.Value() == 0
}
