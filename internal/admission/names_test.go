package admission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestInvalidNames(t *testing.T) {
	const label = "a lowercase RFC 1123 label must consist of"
	for text, want := range map[string][]string{
		"metadata: {name: web.example}\nspec: {containers: [{name: a-1}], initContainers: [{name: b}]}": nil,
		"metadata: {name: web-, generateName: web-}\nspec: {containers: [{name: a}]}":                   nil,
		"metadata: {name: web-}\nspec: {containers: [{name: a}]}":                                       {`metadata.name: Invalid value: "web-": a lowercase RFC 1123 subdomain`},
		"spec: {}": {"metadata.name: Required value: name or generateName is required", "spec.containers: Required value"},
		"metadata: {name: web}\nspec: {containers: [{}, {name: a}, {name: a}], initContainers: [{name: a}, {name: B}, {name: c.d}]}": {
			"spec.containers[0].name: Required value",
			`spec.containers[2].name: Duplicate value: "a"`,
			`spec.initContainers[0].name: Duplicate value: "a"`,
			`spec.initContainers[1].name: Invalid value: "B": ` + label,
			`spec.initContainers[2].name: Invalid value: "c.d": must not contain dots`,
		},
		"metadata: {name: web}\nspec: {containers: [{name: " + strings.Repeat("a", 64) + "}]}": {"spec.containers[0].name: Invalid value: \"" + strings.Repeat("a", 64) + "\": must be no more than 63"},
	} {
		var got []string
		for i, told := range invalidNames(parse[corev1.Pod](t, text), "") {
			told = strings.TrimPrefix(told, "API validation refuses the pod: ")
			// What follows is the library's wording.
			if i < len(want) && strings.HasPrefix(told, want[i]) {
				told = want[i]
			}
			got = append(got, told)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
