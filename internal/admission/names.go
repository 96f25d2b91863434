package admission

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// invalidNames tells what API validation says to the names by which a pod and
// its containers are known, and to a pod without containers. The name is judged
// with what will be appended to it. The pod is computed with all the same.
//
// kubernetes v1.37: pkg/apis/core/validation/validation.go ValidatePodCreate,
// validateContainers, validateInitContainers.
func invalidNames(pod *corev1.Pod, appended string) []string {
	var all field.ErrorList
	if pod.Name == "" {
		all = append(all, field.Required(field.NewPath("metadata", "name"), "name or generateName is required"))
	} else if name := pod.Name + appended; !plainName(name, validation.DNS1123SubdomainMaxLength) {
		for _, why := range apivalidation.NameIsDNSSubdomain(name, appended == "" && pod.GenerateName != "") {
			all = append(all, field.Invalid(field.NewPath("metadata", "name"), pod.Name, why))
		}
	}
	if pod.Namespace != "" && !plainName(pod.Namespace, validation.DNS1123LabelMaxLength) {
		for _, why := range apivalidation.ValidateNamespaceName(pod.Namespace, false) {
			all = append(all, field.Invalid(field.NewPath("metadata", "namespace"), pod.Namespace, why))
		}
	}
	containers := field.NewPath("spec", "containers")
	if len(pod.Spec.Containers) == 0 {
		all = append(all, field.Required(containers, ""))
	}
	seen := map[string]bool{}
	all = append(all, invalidContainerNames(containers, pod.Spec.Containers, seen)...)
	all = append(all, invalidContainerNames(field.NewPath("spec", "initContainers"), pod.Spec.InitContainers, seen)...)
	var out []string
	for _, e := range all {
		out = append(out, invalid(strings.TrimSuffix(e.Error(), ": ")))
	}
	return out
}

// invalidContainerNames goes on with the names of an earlier list.
func invalidContainerNames(path *field.Path, list []corev1.Container, seen map[string]bool) (all field.ErrorList) {
	for i := range list {
		name, at := list[i].Name, func() *field.Path { return path.Index(i).Child("name") }
		switch {
		case name == "":
			all = append(all, field.Required(at(), ""))
		case seen[name]:
			all = append(all, field.Duplicate(at(), name))
		case !plainName(name, validation.DNS1123LabelMaxLength):
			for _, why := range validation.IsDNS1123Label(name) {
				all = append(all, field.Invalid(at(), name, why))
			}
		}
		seen[name] = true
	}
	return all
}

// plainName tells a name that is valid in any case, which nearly all are, from
// one to be looked at closely.
func plainName(name string, limit int) bool {
	for i, c := range []byte(name) {
		inner := i > 0 && i < len(name)-1
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c != '-' || !inner) {
			return false
		}
	}
	return len(name) <= limit
}
