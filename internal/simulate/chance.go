package simulate

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
)

// chance is what the kubelet leaves to chance, as far as the node before its
// last restart goes.
type chance struct{ devices, files, result bool }

// The words of Arbitrary.
const (
	chanceDevices = "devices"
	chanceFiles   = "files"
	chanceResult  = "result"
)

// Arbitrary lists what the kubelet leaves to chance in what the node did:
// "files", the order of list members in checkpoint files, and so checksums;
// "devices", which of several equivalent devices a container got; "result",
// what follows from the order of a map: which of two refusals came first, or
// whether mixed groups of NUMA nodes are recognized in a restart.
func (n *Node) Arbitrary() []string {
	var found []string
	c := n.chanceNow()
	if c.devices {
		found = append(found, chanceDevices)
	}
	if c.files {
		found = append(found, chanceFiles)
	}
	if c.result {
		found = append(found, chanceResult)
	}
	return found
}

// chanceNow is what was left to chance until now. A start that failed may have
// left no memory manager.
func (n *Node) chanceNow() chance {
	now := n.devices.Chance()
	return chance{
		files:   n.unordered(),
		devices: n.chance.devices || now.Devices,
		result:  n.chance.result || now.Result || n.memory != nil && n.memory.Chance(),
	}
}

// unordered tells whether some list in a checkpoint file has several members
// in an order of the kubelet's maps. When the last restart failed they are
// those of the kubelet before.
func (n *Node) unordered() bool {
	if n.stopped {
		return n.chance.files
	}
	state := n.memory.State()
	for _, containers := range state.Entries {
		for _, blocks := range containers {
			if len(blocks) > 1 {
				return true
			}
		}
	}
	for _, pod := range state.PodEntries {
		if len(pod.MemoryBlocks) > 1 {
			return true
		}
	}
	s := n.devices.File()
	if s == nil {
		return false
	}
	for _, ids := range s.Registered {
		if len(ids) > 1 {
			return true
		}
	}
	return len(s.Entries) > 1 || slices.ContainsFunc(s.Entries, func(e kubelet.PodDevices) bool {
		for _, ids := range e.DeviceIDs {
			if len(ids) > 1 {
				return true
			}
		}
		return false
	})
}

// several tells whether more than one option is at fault by itself.
func several(options map[string]string, check func(map[string]string) error) bool {
	faulty := 0
	for name, value := range options {
		if check(map[string]string{name: value}) != nil {
			faulty++
		}
	}
	return faulty > 1
}

// unequal tells whether reservedMemory differs from what is kept in more than
// one type, of which the kubelet names any.
func unequal(c *kubelet.Config, kept corev1.ResourceList, nodes []int) bool {
	if c.MemoryManagerPolicy != kubelet.MemoryPolicyStatic {
		return false
	}
	types := 0
	for _, err := range allocatable.CheckReservedMemory(c.ReservedMemory, kept, nodes) {
		if strings.HasPrefix(err.Error(), "the total amount") {
			types++
		}
	}
	return types > 1
}
