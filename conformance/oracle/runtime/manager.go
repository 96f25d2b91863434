package runtime

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm"
)

// manager is a container manager of which only one answer counts: whether
// containers hold exclusive CPUs.
func manager(exclusive bool) cm.ContainerManager {
	return cpuHolder{cm.NewStubContainerManager(), exclusive}
}

type cpuHolder struct {
	cm.ContainerManager
	exclusive bool
}

func (h cpuHolder) PodHasExclusiveCPUs(klog.Logger, *corev1.Pod) bool { return h.exclusive }

func (h cpuHolder) ContainerHasExclusiveCPUs(klog.Logger, *corev1.Pod, *corev1.Container) bool {
	return h.exclusive
}
