// Package runtime asks the kubelet what it tells the container runtime.
//
//	asked := runtime.Container(pod, &pod.Spec.Containers[0], runtime.Node{CgroupVersion: 2, CgroupOptions: o})
package runtime

import (
	"context"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/kubelet/kuberuntime"

	"github.com/kqos/kqos/conformance/older"
	"github.com/kqos/kqos/conformance/oracle/cadvisor"
	"github.com/kqos/kqos/conformance/oracle/gates"
	"github.com/kqos/kqos/conformance/oracle/inside"
	"github.com/kqos/kqos/conformance/oracle/pod"
)

//go:linkname containerResources k8s.io/kubernetes/pkg/kubelet/kuberuntime.(*kubeGenericRuntimeManager).generateLinuxContainerResources
func containerResources(m unsafe.Pointer, ctx context.Context, pod *corev1.Pod, c *corev1.Container, memoryQoS bool) *runtimeapi.LinuxContainerResources

// Node is what a container's resources depend on besides its pod. Allocatable
// memory of 0 is unknown.
type Node struct {
	CgroupVersion     int      `json:"cgroupVersion"`
	MemoryCapacity    int64    `json:"memoryCapacity"`
	SwapCapacity      int64    `json:"swapCapacity"`
	AllocatableMemory int64    `json:"allocatableMemory"`
	SwapBehavior      string   `json:"swapBehavior"`
	SingleProcess     bool     `json:"singleProcessOOMKill"`
	PageSizes         []string `json:"hugePageSizes"`
	pod.CgroupOptions
}

// Resources are those of a container as the CRI carries them.
type Resources struct {
	CPUPeriod      int64             `json:"cpuPeriod"`
	CPUQuota       int64             `json:"cpuQuota"`
	CPUShares      int64             `json:"cpuShares"`
	Memory         int64             `json:"memoryLimitInBytes"`
	MemorySwap     int64             `json:"memorySwapLimitInBytes"`
	OOMScoreAdj    int64             `json:"oomScoreAdj"`
	HugepageLimits map[string]uint64 `json:"hugepageLimits,omitempty"`
	Unified        map[string]string `json:"unified,omitempty"`
}

// Container is what the kubelet asks for a container of the pod on a node with
// a swap controller, under the gates as they are set.
func Container(p *corev1.Pod, c *corev1.Container, n Node, exclusive bool) Resources {
	if older.Asked() {
		return older.Ask[Resources]("runtime.Container", p, c, n, exclusive)
	}
	gates.SetCgroupVersion(n.CgroupVersion)
	gates.SetPageSizes(n.PageSizes)
	inside.Link(kuberuntime.NewKubeGenericRuntimeManager)
	m := inside.New("kuberuntime.kubeGenericRuntimeManager")
	inside.Set(m, "machineInfo", &cadvisor.MachineInfo{MemoryCapacity: uint64(n.MemoryCapacity), SwapCapacity: uint64(n.SwapCapacity)})
	inside.Set(m, "singleProcessOOMKill", &n.SingleProcess)
	inside.Set(m, "cpuCFSQuota", n.CPUCFSQuota)
	inside.Set(m, "cpuCFSQuotaPeriod", metav1.Duration{Duration: max(n.CPUCFSQuotaPeriod, time.Microsecond)})
	inside.Set(m, "containerManager", manager(exclusive))
	inside.Set(m, "memorySwapBehavior", n.SwapBehavior)
	setMemoryQoS(m, n)
	inside.Set(m, "getSwapControllerAvailable", func() bool { return true })
	inside.Set(m, "getNodeAllocatable", func() corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceMemory: *resource.NewQuantity(n.AllocatableMemory, resource.BinarySI)}
	})
	memoryQoS := utilfeature.DefaultFeatureGate.Enabled(features.MemoryQoS) && n.CgroupVersion == 2
	asked := containerResources(m.UnsafePointer(), context.Background(), p.DeepCopy(), c.DeepCopy(), memoryQoS)
	r := Resources{
		CPUPeriod: asked.CpuPeriod, CPUQuota: asked.CpuQuota, CPUShares: asked.CpuShares,
		Memory: asked.MemoryLimitInBytes, MemorySwap: asked.MemorySwapLimitInBytes, OOMScoreAdj: asked.OomScoreAdj,
		HugepageLimits: map[string]uint64{}, Unified: asked.Unified,
	}
	for _, limit := range asked.HugepageLimits {
		r.HugepageLimits[limit.PageSize] = limit.Limit
	}
	return r
}
