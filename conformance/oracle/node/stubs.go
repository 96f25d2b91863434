package node

import (
	"context"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubelet/events"
)

// cgroupRecorder is a cgroup manager without a host: it records what is set.
type cgroupRecorder struct {
	cm.CgroupManager // names and all that is not recorded
	mu               sync.Mutex
	updates          map[string]*cm.ResourceConfig
}

func (r *cgroupRecorder) Validate(cm.CgroupName) error { return nil }

func (r *cgroupRecorder) Exists(cm.CgroupName) bool { return true }

func (r *cgroupRecorder) Create(l klog.Logger, c *cm.CgroupConfig) error { return r.Update(l, c) }

func (r *cgroupRecorder) Update(_ klog.Logger, c *cm.CgroupConfig) error {
	r.mu.Lock()
	r.updates[r.Name(c.Name)] = c.ResourceParameters
	r.mu.Unlock()
	return nil
}

// sources says that no source of pods is ready yet.
type sources struct{}

func (sources) AddSource(string) {}
func (sources) AllReady() bool   { return false }

type noStatus struct{}

func (noStatus) GetPodStatus(types.UID) (v1.PodStatus, bool) { return v1.PodStatus{}, false }

type noRuntime struct{}

func (noRuntime) UpdateContainerResources(context.Context, string, *runtimeapi.ContainerResources) error {
	return nil
}

// eventRecorder tells when node allocatable was enforced on the pods' cgroup:
// the kubelet does that in the background.
type eventRecorder struct {
	record.EventRecorder
	enforced chan struct{}
}

func (e *eventRecorder) Event(_ runtime.Object, _, reason, message string) {
	if reason == events.SuccessfulNodeAllocatableEnforcement && message == "Updated Node Allocatable limit across pods" {
		e.enforced <- struct{}{}
	}
}

func (e *eventRecorder) Eventf(runtime.Object, string, string, string, ...any) {}
