// Package apiserver stores a pod as the API server does at creation, without
// admission plugins.
//
//	stored, err := apiserver.Create(pod)
package apiserver

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // registers the conversions of pods
	corev1defaults "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/registry/core/pod"

	"github.com/kqos/kqos/conformance/older"
)

// Create is the pod with the API's defaults and what the pod strategy does to
// it before it is stored, under the gates as they are set.
func Create(p *corev1.Pod) (*corev1.Pod, error) {
	if older.Asked() {
		return older.Try[*corev1.Pod]("apiserver.Create", p)
	}
	p = p.DeepCopy()
	corev1defaults.SetObjectDefaults_Pod(p)
	internal := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(p, internal, nil); err != nil {
		return nil, err
	}
	pod.Strategy.PrepareForCreate(context.Background(), internal)
	stored := &corev1.Pod{}
	return stored, legacyscheme.Scheme.Convert(internal, stored, nil)
}
