package cli

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kqos/kqos/internal/manifest"
	quantities "github.com/kqos/kqos/internal/quantity"
)

// shorthandMemory is what a pod of --pod asks for without a word on it: without
// any memory it would not be Guaranteed.
const shorthandMemory = "1Gi"

// shorthand makes the pods of --pod.
func shorthand(texts []string) ([]manifest.Workload, error) {
	var pods []manifest.Workload
	for i, text := range texts {
		pod, err := shorthandPod(text)
		if err != nil {
			return nil, fmt.Errorf("--pod %q: %w: write name=cpu or name=cpu/memory, such as web=4/8Gi", text, err)
		}
		source := manifest.Source{File: "--pod", Document: i + 1, Kind: "Pod", Name: pod.Name}
		pods = append(pods, manifest.Workload{Source: source, Pod: pod, Replicas: 1})
	}
	return pods, nil
}

// shorthandPod is a Guaranteed pod of one container.
func shorthandPod(text string) (*corev1.Pod, error) {
	name, amounts, ok := strings.Cut(text, "=")
	if !ok {
		return nil, errors.New("there is no =")
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return nil, fmt.Errorf("the name %q is no name of a pod (lower case letters, digits, - and .)", name)
	}
	cpu, memory, given := strings.Cut(amounts, "/")
	if !given {
		memory = shorthandMemory
	}
	list := corev1.ResourceList{}
	for name, amount := range map[corev1.ResourceName]string{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory} {
		q, err := quantities.Parse(amount)
		if err != nil || q.Sign() <= 0 {
			return nil, fmt.Errorf("%s %q is no amount above zero", name, amount)
		}
		list[name] = q
	}
	pod := &corev1.Pod{}
	pod.APIVersion, pod.Kind, pod.Name, pod.Namespace = "v1", "Pod", name, corev1.NamespaceDefault
	pod.UID = types.UID(name)
	pod.Spec.Containers = []corev1.Container{{
		Name: "app", Image: "app", Resources: corev1.ResourceRequirements{Requests: list, Limits: list.DeepCopy()},
	}}
	return pod, nil
}
