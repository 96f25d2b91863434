package pods

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/gen"
	"github.com/kqos/kqos/conformance/oracle/workload"
	"github.com/kqos/kqos/internal/admission"
	"github.com/kqos/kqos/internal/manifest"
)

// templated is what becomes of a template that bears on a node.
type templated struct {
	Namespace     string            `json:"namespace"`
	Labels        map[string]string `json:"labels"`
	Annotations   map[string]string `json:"annotations,omitempty"`
	Priority      *int32            `json:"priority"`
	PriorityClass string            `json:"priorityClass"`
	Replicas      int32             `json:"replicas"`
	Amounts       stored            `json:"amounts"`
}

func templatedOf(p *corev1.Pod, replicas int32) templated {
	return templated{p.Namespace, p.Labels, p.Annotations, p.Spec.Priority, p.Spec.PriorityClassName, replicas, amountsOf(p)}
}

func TestWorkload(t *testing.T) {
	dir := t.TempDir()
	check.Property(t, 3000, func(t *rapid.T) {
		in := staticFile{Text: gen.Workload().Draw(t, "object"), FeatureGates: gen.KnownGates(podGates()).Draw(t, "gates")}
		g, ok := setGates(t, in.FeatureGates)
		if !ok {
			return
		}
		file := filepath.Join(dir, "object.yaml")
		if err := os.WriteFile(file, []byte(in.Text), 0o600); err != nil {
			t.Fatal(err)
		}
		data, err := yaml.YAMLToJSON([]byte(in.Text))
		if err != nil {
			t.Fatal(err)
		}
		pod, replicas, err := workload.Pod(data)
		if err != nil {
			t.Fatal(err)
		}
		found := manifest.Read([]string{file}, manifest.Options{})
		if len(found.Errors) > 0 || len(found.Workloads) != 1 {
			t.Fatalf("errors %v, %d workloads", found.Errors, len(found.Workloads))
		}
		w := found.Workloads[0]
		admission.Default(w.Pod, g)
		check.Equal(t, in, templatedOf(pod, replicas), templatedOf(w.Pod, w.Replicas))
	})
}
