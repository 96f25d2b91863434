package gen

import (
	"maps"
	"slices"

	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// DropinText generates the content of a drop-in: most are configurations with a
// few fields, some of them null; some are no configurations at all.
func DropinText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 30).Draw(t, "odd") == 30 {
			return rapid.SampledFrom([]string{
				"", "{}", `{"maxPods":5}`, "text", "[]", "kind: KubeletConfiguration", "apiVersion: v1\nkind: Pod\n",
				"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 1\nmaxPods: 2\n",
				"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxpods: 1\nnope: 2\n",
				"apiVersion: kubelet.config.k8s.io/v1alpha1\nkind: KubeletConfiguration\n",
			}).Draw(t, "text")
		}
		doc := Config(4).Draw(t, "dropin")
		for _, name := range slices.Sorted(maps.Keys(doc)) {
			if name != "kind" && name != "apiVersion" && rapid.IntRange(0, 12).Draw(t, "null") == 12 {
				doc[name] = nil
			}
		}
		if rapid.Bool().Draw(t, "yaml") {
			text, err := yaml.JSONToYAML(doc.JSON())
			if err != nil {
				panic(err) // JSON is always YAML
			}
			return string(text)
		}
		return string(doc.JSON())
	})
}

// Gates generates values of feature gates, some of them unknown.
func Gates() *rapid.Generator[map[string]bool] { return KnownGates(gateNames()) }

// KnownGates generates values of gates with the given names.
func KnownGates(names []string) *rapid.Generator[map[string]bool] {
	return rapid.MapOfN(rapid.SampledFrom(names), rapid.Bool(), 0, 4)
}
