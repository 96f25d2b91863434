package kubelet

import (
	"encoding/json"
	"fmt"
	"strings"

	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/yaml"
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
		{"memoryReservationPolicy", 36, func(c *kubeletv1beta1.KubeletConfiguration) { c.MemoryReservationPolicy = "" }},
		{"defaultPodSysctls", 37, func(c *kubeletv1beta1.KubeletConfiguration) { c.DefaultPodSysctls = nil }},
	}
}

// forgetNewFields drops what an older kubelet does not know: it reads a file with
// an unknown field again without strictness, and logs the field's name.
func (c *Config) forgetNewFields() {
	for _, f := range newFields() {
		if c.Gates.Since(f.since) {
			continue
		}
		if c.Written[f.name] {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s: a kubelet before %s does not know this field", f.name, f.since))
		}
		f.clear(&c.KubeletConfiguration)
	}
}

// withoutNewFields is a document without the fields that a kubelet of the minor
// does not know, and the names of those, where reading one of them was refused:
// that kubelet does not read them, whatever they hold. Else it is nil.
func withoutNewFields(data []byte, refused error, minor Minor) (older []byte, unread []string) {
	var fields map[string]json.RawMessage
	asJSON, err := yaml.YAMLToJSON(data)
	if err != nil || json.Unmarshal(asJSON, &fields) != nil {
		return nil, nil
	}
	blamed := false
	for _, f := range newFields() {
		if _, found := fields[f.name]; found && minor < f.since {
			delete(fields, f.name)
			unread = append(unread, f.name)
			blamed = blamed || strings.Contains(refused.Error(), "field KubeletConfiguration."+f.name)
		}
	}
	if !blamed {
		return nil, nil
	}
	if older, err = json.Marshal(fields); err != nil {
		return nil, nil
	}
	return older, unread
}
