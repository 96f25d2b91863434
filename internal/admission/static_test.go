package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
)

func TestStaticRefusals(t *testing.T) {
	pod := parse[corev1.Pod](t, "spec: {priorityClassName: high, resourceClaims: [{name: gpu}], containers: [{name: app, resources: {requests: {memory: 10E, cpu: 2}, limits: {cpu: 1}}}]}")
	want := []string{
		"the kubelet would refuse the file: name is needed for the pod",
		"the kubelet would refuse the file: static pods may not reference resourceclaims",
		"nothing resolves priorityClassName high of a static pod: set spec.priority beside it",
		"API validation refuses the pod: spec.containers[0].resources.requests.cpu: 2 is above the limit of 1",
		"spec.containers[0].resources.requests.memory: 10E is beyond the int64 that the kubelet counts in, which reads something else: write a smaller quantity",
	}
	if diff := cmp.Diff(want, Admit(pod, Static, Objects{}, kubelet.Gates{})); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// TestStaticNames judges a name together with that of the node.
func TestStaticNames(t *testing.T) {
	for name, refused := range map[string]bool{"web": false, "web-": false, "web.": true, "Web": true} {
		pod := parse[corev1.Pod](t, "{metadata: {name: "+name+"}, spec: {containers: [{name: app}]}}")
		if told := Admit(pod, Static, Objects{}, kubelet.Gates{}); (len(told) > 0) != refused {
			t.Errorf("%s: told %q, want one refusal: %t", name, told, refused)
		}
	}
}

func TestReferences(t *testing.T) {
	for text, want := range map[string]string{
		"volumes: [{name: a, hostPath: {path: /a}}, {name: b, emptyDir: {}}, {name: c, projected: {sources: [{downwardAPI: {}}]}}]": "",
		"serviceAccount: default":                                           "serviceaccounts",
		"imagePullSecrets: [{name: a}]":                                     "secrets",
		"imagePullSecrets: [{}]":                                            "",
		"resourceClaims: [{name: a}]":                                       "resourceclaims",
		"volumes: [{secret: {}}]":                                           "secrets (via secret volumes)",
		"volumes: [{configMap: {name: a}}]":                                 "configmaps",
		"volumes: [{iscsi: {secretRef: {name: a}}}]":                        "secrets",
		"volumes: [{persistentVolumeClaim: {claimName: a}}]":                "persistentvolumeclaims",
		"volumes: [{projected: {sources: [{serviceAccountToken: {}}]}}]":    "serviceaccounts (via projected volumes)",
		"containers: [{envFrom: [{configMapRef: {name: a}}]}]":              "configmaps",
		"initContainers: [{env: [{valueFrom: {secretKeyRef: {name: a}}}]}]": "secrets",
	} {
		pod := parse[corev1.Pod](t, "spec: {"+text+"}")
		if got := reference(&pod.Spec); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
