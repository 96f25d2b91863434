package runtime

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/state"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/conformance/older"
	"github.com/kqos/kqos/conformance/oracle/inside"
)

// Isolation is whose CPU quota is lifted.
type Isolation struct {
	Pod        bool            `json:"pod"`
	Containers map[string]bool `json:"containers"`
}

// IsolationOf is what the kubelet makes of a CPU manager's state that holds an
// entry for each of the containers named, under the gates as they are set.
func IsolationOf(p *corev1.Pod, assigned map[string]bool) Isolation {
	if older.Asked() {
		return older.Ask[Isolation]("runtime.IsolationOf", p, assigned)
	}
	inside.Link(cm.NewContainerManager)
	inside.Link(cpumanager.NewManager)
	memory := state.NewMemoryState(klog.Background())
	for name := range assigned {
		memory.SetCPUSet(string(p.UID), name, cpuset.New(1))
	}
	cpus, m := inside.New("cpumanager.manager"), inside.New("cm.containerManagerImpl")
	inside.Set(cpus, "state", memory)
	inside.Set(m, "cpuManager", cpus.Interface())
	i := Isolation{podIsolated(m.UnsafePointer(), p), map[string]bool{}}
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for _, c := range list {
			i.Containers[c.Name] = containerIsolated(m.UnsafePointer(), p, &c)
		}
	}
	return i
}
