package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKinds reads one of each kind; all hold the same pod template.
func TestKinds(t *testing.T) {
	const template = `{metadata: {labels: {a: b}}, spec: {containers: [{name: app}]}}`
	for _, c := range []struct {
		kind, spec string
		replicas   int32
	}{
		{"v1 Pod", "spec: {containers: [{name: app}]}", 1},
		{"v1 PodTemplate", "template: " + template, 1},
		{"v1 ReplicationController", "spec: {replicas: 2, template: " + template + "}", 2},
		{"apps/v1 Deployment", "spec: {replicas: 0, template: " + template + "}", 0},
		{"extensions/v1beta1 Deployment", "spec: {rollbackTo: {revision: 1}, template: " + template + "}", 1},
		{"apps/v1beta2 ReplicaSet", "spec: {replicas: 3, template: " + template + "}", 3},
		{"apps/v1beta1 StatefulSet", "spec: {replicas: 4, template: " + template + "}", 4},
		{"apps/v1 DaemonSet", "spec: {template: " + template + "}", 1},
		{"batch/v1 Job", "spec: {parallelism: 5, template: " + template + "}", 5},
		{"batch/v1beta1 CronJob", "spec: {jobTemplate: {spec: {parallelism: 6, template: " + template + "}}}", 6},
		{"batch/v1 Job", "spec: {parallelism: 5, completions: 2, template: " + template + "}", 2},
		{"batch/v1 Job", "spec: {completions: 2, template: " + template + "}", 1},
	} {
		version, kind := splitKind(c.kind)
		text := "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: web, namespace: shop, uid: u}\n" + c.spec + "\n"
		in := decodeAll("f", []byte(text), Options{})
		if len(in.Errors)+len(in.Warnings) > 0 || len(in.Workloads) != 1 {
			t.Errorf("%s: %+v", c.kind, tell(in))
			continue
		}
		w := in.Workloads[0]
		if diff := cmp.Diff(Source{File: "f", Document: 1, Kind: kind, Name: "web"}, w.Source); diff != "" {
			t.Errorf("%s: source (-want +got):\n%s", c.kind, diff)
		}
		if w.Replicas != c.replicas || w.Pod.Name != "web" || w.Pod.Namespace != "shop" || len(w.Pod.Spec.Containers) != 1 {
			t.Errorf("%s: %d replicas of %s/%s with %d containers", c.kind, w.Replicas, w.Pod.Namespace, w.Pod.Name, len(w.Pod.Spec.Containers))
		}
		if ownUID := kind == "Pod"; (w.Pod.UID == "u") != ownUID {
			t.Errorf("%s: the pod's uid is %q; only a Pod has one of its own", c.kind, w.Pod.UID)
		}
	}
}

func splitKind(s string) (version, kind string) {
	for i := range s {
		if s[i] == ' ' {
			return s[:i], s[i+1:]
		}
	}
	return "", s
}

func TestObjectsBesidePods(t *testing.T) {
	in := decodeAll("f", []byte(`apiVersion: v1
kind: LimitRange
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
handler: kata
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
value: 7
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
maxPods: 9
---
apiVersion: kqos.io/v1alpha1
kind: Machine
`), Options{})
	if len(in.Errors)+len(in.Warnings) > 0 {
		t.Errorf("told: %+v", tell(in))
	}
	if len(in.LimitRanges) != 1 || len(in.RuntimeClasses) != 1 || len(in.PriorityClasses) != 1 || len(in.Machines) != 1 {
		t.Errorf("found %+v", in)
	}
	want := []Document{{File: "f", Number: 4, Data: []byte("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 9\n")}}
	if diff := cmp.Diff(want, in.KubeletConfigs); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	envelope := decodeAll("f", []byte(`{"kubeletconfig":{"maxPods":9}}`), Options{})
	if len(envelope.KubeletConfigs) != 1 {
		t.Errorf("the answer of /configz is no configuration: %+v", tell(envelope))
	}
}
