package cgroups

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/qos"
)

// criResources are the resources of a container as the CRI carries them.
type criResources struct {
	CPUPeriod, CPUQuota, CPUShares, MemoryLimitInBytes, MemorySwapLimitInBytes, OOMScoreAdj int64
	HugepageLimits                                                                          map[string]int64
	Unified                                                                                 map[string]string
}

func criOf(s Settings, version int) criResources {
	c := criResources{HugepageLimits: map[string]int64{}}
	if s.CPUPeriod != nil {
		c.CPUPeriod, c.CPUQuota = int64(s.CPUPeriod.Is), s.CPUQuota.Is
	}
	c.CPUShares = int64(s.CPUShares.Is)
	if s.Memory != nil {
		c.MemoryLimitInBytes = s.Memory.Is
	}
	if s.MemorySwap != nil && version == 1 {
		c.MemorySwapLimitInBytes = s.MemorySwap.Is
	}
	for size, v := range s.HugePages {
		name, _ := PageSizeName(size)
		c.HugepageLimits[name] = v.Is
	}
	if version == 2 {
		c.Unified = configOf(s).Unified
	}
	return c
}

func bytesOf(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.BinarySI) }

func TestContainerSettingsGolden(t *testing.T) {
	type containerCase struct {
		Name  string
		Input struct {
			goldenInput
			CgroupVersion                                   int
			MemoryCapacity, SwapCapacity, AllocatableMemory int64
			SwapBehavior                                    string
			SingleProcessOOMKill                            *bool
		}
		Want struct{ Containers map[string]criResources }
	}
	for _, c := range golden[containerCase](t, "container-cgroup.json") {
		t.Run(c.Name, func(t *testing.T) {
			in := c.Input
			cfg := in.config(t)
			cfg.MemorySwap.SwapBehavior, cfg.SingleProcessOOMKill = in.SwapBehavior, in.SingleProcessOOMKill
			node := Node{
				Config:   cfg,
				Platform: Platform{Driver: Cgroupfs, Version: in.CgroupVersion, PageSizes: in.HugePageSizes},
				Capacity: corev1.ResourceList{corev1.ResourceMemory: bytesOf(in.MemoryCapacity), allocatable.ResourceSwap: bytesOf(in.SwapCapacity)},
				Result:   &allocatable.Result{Absolute: corev1.ResourceList{corev1.ResourceMemory: bytesOf(in.AllocatableMemory)}},
			}
			exclusive := map[string]bool{}
			for _, name := range in.ExclusiveCPUContainers {
				exclusive[name] = true
			}
			got := map[string]criResources{}
			for _, container := range runningContainers(in.Pod, true) {
				s := ContainerSettings(in.Pod, container, node, Assignment{Exclusive: exclusive[container.Name]})
				cri := criOf(s, in.CgroupVersion)
				cri.OOMScoreAdj = qos.OOMScoreAdj(in.Pod, container, in.MemoryCapacity, cfg.Gates)
				got[container.Name] = cri
			}
			if diff := cmp.Diff(c.Want.Containers, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
