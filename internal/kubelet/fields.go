package kubelet

import (
	"fmt"

	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
)

// newField is a field that no kubelet before a minor knows.
type newField struct {
	name  string
	since Minor
	// clear gives the field the value of a configuration that lacks it.
	clear func(*kubeletv1beta1.KubeletConfiguration)
}

// newFields are those younger than the oldest of [Versions].
//
// kubelet v1.35 to v1.37: staging k8s.io/kubelet config/v1beta1 KubeletConfiguration.
func newFields() []newField {
	return []newField{
		{"tlsCurvePreferences", 36, func(c *kubeletv1beta1.KubeletConfiguration) { c.TLSCurvePreferences = nil }},
		{"memoryReservationPolicy", 36, func(c *kubeletv1beta1.KubeletConfiguration) {
			c.MemoryReservationPolicy = kubeletv1beta1.NoneMemoryReservationPolicy
		}},
		{"defaultPodSysctls", 37, func(c *kubeletv1beta1.KubeletConfiguration) { c.DefaultPodSysctls = nil }},
	}
}

// forgetNewFields drops what an older kubelet does not know: it reads a file with
// an unknown field again without strictness, and logs the field's name.
func (c *Config) forgetNewFields() {
	for _, f := range newFields() {
		if c.Gates.minor() >= f.since {
			continue
		}
		if c.Written[f.name] {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s: a kubelet before %s does not know this field", f.name, f.since))
		}
		f.clear(&c.KubeletConfiguration)
	}
}
