//go:build kubelet135 || kubelet136

package runtime

import (
	"unsafe"

	corev1 "k8s.io/api/core/v1"
)

//go:linkname podIsolated k8s.io/kubernetes/pkg/kubelet/cm.(*containerManagerImpl).PodHasExclusiveCPUs
func podIsolated(unsafe.Pointer, *corev1.Pod) bool

//go:linkname containerIsolated k8s.io/kubernetes/pkg/kubelet/cm.(*containerManagerImpl).ContainerHasExclusiveCPUs
func containerIsolated(unsafe.Pointer, *corev1.Pod, *corev1.Container) bool

func (h cpuHolder) PodHasExclusiveCPUs(*corev1.Pod) bool { return h.exclusive }

func (h cpuHolder) ContainerHasExclusiveCPUs(*corev1.Pod, *corev1.Container) bool { return h.exclusive }
