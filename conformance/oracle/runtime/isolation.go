package runtime

import (
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/state"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/conformance/oracle/inside"
)

//go:linkname podHasExclusiveCPUs k8s.io/kubernetes/pkg/kubelet/cm.(*containerManagerImpl).PodHasExclusiveCPUs
func podHasExclusiveCPUs(unsafe.Pointer, klog.Logger, *corev1.Pod) bool

//go:linkname containerHasExclusiveCPUs k8s.io/kubernetes/pkg/kubelet/cm.(*containerManagerImpl).ContainerHasExclusiveCPUs
func containerHasExclusiveCPUs(unsafe.Pointer, klog.Logger, *corev1.Pod, *corev1.Container) bool

// Isolation is whose CPU quota is lifted.
type Isolation struct {
	Pod        bool            `json:"pod"`
	Containers map[string]bool `json:"containers"`
}

// IsolationOf is what the kubelet makes of a CPU manager's state that holds an
// entry for each of the containers named, under the gates as they are set.
func IsolationOf(p *corev1.Pod, assigned map[string]bool) Isolation {
	inside.Link(cm.NewContainerManager)
	inside.Link(cpumanager.NewManager)
	memory := state.NewMemoryState(klog.Background())
	for name := range assigned {
		memory.SetCPUSet(string(p.UID), name, cpuset.New(1))
	}
	cpus, m := inside.New("cpumanager.manager"), inside.New("cm.containerManagerImpl")
	inside.Set(cpus, "state", memory)
	inside.Set(m, "cpuManager", cpus.Interface())
	i := Isolation{podHasExclusiveCPUs(m.UnsafePointer(), klog.Background(), p), map[string]bool{}}
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for _, c := range list {
			i.Containers[c.Name] = containerHasExclusiveCPUs(m.UnsafePointer(), klog.Background(), p, &c)
		}
	}
	return i
}
