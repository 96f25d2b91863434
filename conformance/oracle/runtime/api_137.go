//go:build !kubelet135 && !kubelet136

package runtime

import (
	"reflect"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/kqos/kqos/conformance/oracle/inside"
)

//go:linkname podHasExclusiveCPUs k8s.io/kubernetes/pkg/kubelet/cm.(*containerManagerImpl).PodHasExclusiveCPUs
func podHasExclusiveCPUs(unsafe.Pointer, klog.Logger, *corev1.Pod) bool

//go:linkname containerHasExclusiveCPUs k8s.io/kubernetes/pkg/kubelet/cm.(*containerManagerImpl).ContainerHasExclusiveCPUs
func containerHasExclusiveCPUs(unsafe.Pointer, klog.Logger, *corev1.Pod, *corev1.Container) bool

func podIsolated(m unsafe.Pointer, p *corev1.Pod) bool {
	return podHasExclusiveCPUs(m, klog.Background(), p)
}

func containerIsolated(m unsafe.Pointer, p *corev1.Pod, c *corev1.Container) bool {
	return containerHasExclusiveCPUs(m, klog.Background(), p, c)
}

func (h cpuHolder) PodHasExclusiveCPUs(klog.Logger, *corev1.Pod) bool { return h.exclusive }

func (h cpuHolder) ContainerHasExclusiveCPUs(klog.Logger, *corev1.Pod, *corev1.Container) bool {
	return h.exclusive
}

func setMemoryQoS(m reflect.Value, n Node) {
	inside.Set(m, "memoryReservationPolicy", n.MemoryReservationPolicy)
	inside.Set(m, "memoryThrottlingFactor", n.MemoryThrottlingFactor)
}
