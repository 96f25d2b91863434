//go:build kubelet135

package placement

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
)

// attributes are what an admit handler is asked with.
func attributes(pod *v1.Pod) *lifecycle.PodAdmitAttributes {
	return &lifecycle.PodAdmitAttributes{Pod: pod}
}

// describePod: no pod has anything as a whole in this minor.
func (k *kubelet) describePod(string, *EventResult) {}
