package admission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
)

func TestInvalidResources(t *testing.T) {
	const one = "containers: [{resources: {limits: {cpu: 1}}}]"
	for text, want := range map[string][]string{
		one: nil,
		"containers: [{resources: {requests: {cpu: 1, storage: 1, a.kubernetes.io/b: 1, requests.a/b: 1, a b: 1}}}]": {
			"spec.containers[0].resources.limits.requests.a/b: is missing: what can't be overcommitted has a limit, equal to its request",
			"spec.containers[0].resources.requests.requests.a/b: doesn't follow the extended resource name standard: the domain can't start with requests. and is shorter than 246 characters",
			"spec.containers[0].resources.requests.storage: must be a standard resource for containers: cpu, memory, ephemeral-storage or hugepages-SIZE; all others are DOMAIN/NAME",
		},
		"initContainers: [{resources: {requests: {a/gpu: 1}, limits: {a/gpu: 2}}}]": {
			"spec.initContainers[0].resources.requests.a/gpu: 1 is not the limit of 2: what can't be overcommitted has equal ones",
		},
		"containers: [{resources: {limits: {a/gpu: 1500m, hugepages-2Mi: 3Mi}}}]": {
			"spec.containers[0].resources.limits.a/gpu: 1500m is no whole number",
			"spec.containers[0].resources.limits.hugepages-2Mi: 3Mi is no whole number of such pages",
			"spec.containers[0].resources: huge pages require cpu or memory",
		},
		"overhead: {hugepages-2Mi: 2Mi}":                               {"spec.overhead: huge pages require cpu or memory"},
		"os: {name: windows}, resources: {limits: {pid: 1}}":           {"spec.resources: may not be set for a windows pod"},
		"resources: {claims: [{name: a}], requests: {pid: 1, a/b: 1}}": {"spec.resources.claims: may not be set at pod level", "spec.resources.limits.a/b: is missing: what can't be overcommitted has a limit, equal to its request", "spec.resources.requests.a/b: a pod as a whole has cpu, memory and hugepages-SIZE alone", "spec.resources.requests.pid: a pod as a whole has cpu, memory and hugepages-SIZE alone"},
		"resources: {requests: {cpu: 500m}, limits: {cpu: 700m}}, " + one: {
			"spec.resources.limits.cpu: 700m is below the limit of spec.containers[0], 1",
		},
		"resources: {requests: {cpu: 500m}}, containers: [{resources: {requests: {cpu: 1}}}]": {
			"spec.resources.requests.cpu: 500m is below the sum of the containers' requests, 1",
		},
	} {
		var got []string
		for _, told := range invalidResources(parse[corev1.Pod](t, "spec: {"+text+"}"), kubelet.Gates{}) {
			if told = strings.TrimPrefix(told, "API validation refuses the pod: "); !strings.Contains(told, "a b: ") { // the library's words
				got = append(got, told)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
