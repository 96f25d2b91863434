package decode

import (
	"errors"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestExplain(t *testing.T) {
	for raw, want := range map[string][2]string{
		`{"spec":{"hostNetwork":"yes"}}`:                                     {"spec.hostNetwork", "is text, must be true or false"},
		`{"spec":{"priority":99999999999}}`:                                  {"spec.priority", "is the number 99999999999, must be a whole number that fits int32"},
		`{"spec":{"containers":[{},{"ports":"http"}]}}`:                      {"spec.containers[1].ports", "is text, must be a list"},
		`{"spec":{"containers":[{"livenessProbe":{"httpGet":{"path":1}}}]}}`: {"spec.containers[0].livenessProbe.httpGet.path", "is a number, must be text (in quotes where it looks like a number or a boolean)"},
		`{"metadata":{"labels":{"a":{}}}}`:                                   {"metadata.labels.a", "is a mapping, must be text (in quotes where it looks like a number or a boolean)"},
		`{"spec":{"overhead":{"cpu":"much"}}}`:                               {"spec.overhead.cpu", `"much": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$': write a quantity such as 500m or 128Mi`},
		`{"spec":[]}`:                                                        {"spec", "is a list, must be a mapping"},
		`[]`:                                                                 {"", "is a list, must be a mapping"},
		`{}`:                                                                 {"", "whole"},
	} {
		path, err := Explain([]byte(raw), reflect.TypeFor[*corev1.Pod](), errors.New("json: whole"))
		if path != want[0] || err.Error() != want[1] {
			t.Errorf("%s:\n got %q %q\nwant %q %q", raw, path, err, want[0], want[1])
		}
	}
}
