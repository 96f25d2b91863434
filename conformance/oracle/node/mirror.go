// Package node lets the kubelet's container manager compute what a node has,
// reserves and enforces.
//
//	answer, err := node.Start("kubelet.yaml", machine, node.Host{CgroupVersion: 2, MaxPID: 32768}, dir)
package node

import (
	"sync"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cadvisor"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
	"k8s.io/mount-utils"
)

// containerManager lies in memory as the kubelet's containerManagerImpl does,
// up to the last field that its methods below use. Building the real one needs
// a host's cgroups.
type containerManager struct {
	sync.RWMutex
	cadvisor cadvisor.Interface
	mounter  mount.Interface
	cm.NodeConfig
	status           cm.Status
	systemContainers []*struct{}
	periodicTasks    []func()
	subsystems       *cm.CgroupSubsystems
	nodeInfo         *v1.Node
	cgroupManager    cm.CgroupManager
	capacity         v1.ResourceList
	internalCapacity v1.ResourceList
	cgroupRoot       cm.CgroupName
	recorder         record.EventRecorder
	qos              cm.QOSContainerManager
	deviceManager    devicemanager.Manager
	cpuManager       cpumanager.Manager
	// The rest is never touched by the methods below.
	_ [16]uintptr
}

//go:linkname nodeAllocatableReservation k8s.io/kubernetes/pkg/kubelet/cm.(*containerManagerImpl).GetNodeAllocatableReservation
func nodeAllocatableReservation(*containerManager) v1.ResourceList

//go:linkname nodeAllocatableAbsolute k8s.io/kubernetes/pkg/kubelet/cm.(*containerManagerImpl).GetNodeAllocatableAbsolute
func nodeAllocatableAbsolute(*containerManager) v1.ResourceList

//go:linkname validateNodeAllocatable k8s.io/kubernetes/pkg/kubelet/cm.(*containerManagerImpl).validateNodeAllocatable
func validateNodeAllocatable(*containerManager) error

//go:linkname enforceNodeAllocatableCgroups k8s.io/kubernetes/pkg/kubelet/cm.(*containerManagerImpl).enforceNodeAllocatableCgroups
func enforceNodeAllocatableCgroups(*containerManager, klog.Logger) error
