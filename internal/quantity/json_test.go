package quantity

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestCheckJSON(t *testing.T) {
	for raw, want := range map[string]string{
		`{"spec":{"containers":[{"resources":{"limits":{"cpu":"1e999999999"}}}]}}`:                 "spec.containers[0].resources.limits.cpu",
		`{"spec":{"containers":[{},{"resources":{"requests":{"memory":1E-99999}}}]}}`:              "spec.containers[1].resources.requests.memory",
		`{"spec":{"overhead":{"memory":"1.e+99999"}}}`:                                             "spec.overhead.memory",
		`{"spec":{"containers":[{"image":"1e999999999","env":[{"name":"a","value":"2e99999"}]}]}}`: "",
		`{"spec":{"overhead":{"memory":"1e9"}}}`:                                                   "",
		`{"spec":{"overhead":{"cpu":"1e99999"},"overhead":{"cpu":"1"}}}`:                           "spec.overhead.cpu",
		`{"spec":{"Overhead":{"cpu":"1e99999"}}}`:                                                  "spec.Overhead.cpu",
		`{"more":[{"a":{"b":["1e99999"]}}],"spec":{"overhead":{"cpu":"1e99999"}}}`:                 "spec.overhead.cpu",
		`{"spec":[[{"overhead":"1e99999"}]],"metadata":{"name":["1e99999"]}}`:                      "",
		`{"spec":{"overhead":{"cpu":"1e99999"}}`:                                                   "",
		`{"spec":"1e99999`:                                                                         "",
	} {
		path, err := CheckJSON([]byte(raw), reflect.TypeFor[*corev1.Pod]())
		if path != want || (err != nil) != (want != "") {
			t.Errorf("CheckJSON(%s) = %q, %v, want the path %q", raw, path, err, want)
		}
	}
}
