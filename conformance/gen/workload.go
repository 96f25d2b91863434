package gen

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// Workload generates the text of an object that makes pods, in JSON or YAML.
func Workload() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		data := workload(t)
		if rapid.Bool().Draw(t, "yaml") {
			out, err := yaml.JSONToYAML(data)
			if err != nil {
				t.Fatal(err)
			}
			data = out
		}
		return string(data)
	})
}

func workload(t *rapid.T) []byte {
	p := Pod().Draw(t, "pod")
	p.Namespace = rapid.SampledFrom([]string{"", "inner"}).Draw(t, "namespace of the template")
	p.Name = rapid.SampledFrom([]string{"", "inner"}).Draw(t, "name of the template")
	p.Labels = map[string]string{"app": "a"}
	template := map[string]any{"metadata": p.ObjectMeta, "spec": p.Spec}
	spec := map[string]any{"template": template}
	count := rapid.SampledFrom([]int{-1, -1, 0, 1, 3}).Draw(t, "replicas")
	counted := func(field string) {
		if count >= 0 {
			spec[field] = count
		}
	}
	object := map[string]any{"metadata": metav1.ObjectMeta{
		Name: rapid.SampledFrom([]string{"web", "a.b"}).Draw(t, "name"), Namespace: rapid.SampledFrom([]string{"", "shop"}).Draw(t, "namespace"),
	}}
	kind := rapid.SampledFrom([]string{
		"v1 PodTemplate", "v1 ReplicationController", "apps/v1 Deployment", "apps/v1beta1 Deployment", "apps/v1beta2 Deployment", "extensions/v1beta1 Deployment",
		"apps/v1 ReplicaSet", "apps/v1beta2 ReplicaSet", "extensions/v1beta1 ReplicaSet", "apps/v1 StatefulSet", "apps/v1beta1 StatefulSet", "apps/v1beta2 StatefulSet",
		"apps/v1 DaemonSet", "apps/v1beta2 DaemonSet", "extensions/v1beta1 DaemonSet", "batch/v1 Job", "batch/v1 CronJob", "batch/v1beta1 CronJob",
	}).Draw(t, "kind")
	var version, name string
	if _, err := fmt.Sscan(kind, &version, &name); err != nil {
		t.Fatal(err)
	}
	object["apiVersion"], object["kind"], object["spec"] = version, name, spec
	switch name {
	case "PodTemplate":
		delete(object, "spec")
		object["template"] = template
	case "Job":
		counted("parallelism")
	case "CronJob":
		counted("parallelism")
		object["spec"] = map[string]any{"schedule": "* * * * *", "jobTemplate": map[string]any{"spec": spec}}
	default:
		counted("replicas")
	}
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
