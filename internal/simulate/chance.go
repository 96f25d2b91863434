package simulate

import (
	"slices"

	"github.com/kqos/kqos/internal/kubelet"
)

// chance is what the kubelet leaves to chance, as far as the node before its
// last restart goes.
type chance struct{ devices, files, result bool }

// Arbitrary lists what the kubelet leaves to chance in what the node did:
// "files", the order of list members in checkpoint files, and so checksums;
// "devices", which of several equivalent devices a container got; "result",
// what follows from the order of a map: which of two refusals came first, or
// whether mixed groups of NUMA nodes are recognized in a restart.
func (n *Node) Arbitrary() []string {
	var found []string
	c := n.chanceNow()
	if c.devices {
		found = append(found, "devices")
	}
	if c.files {
		found = append(found, "files")
	}
	if c.result {
		found = append(found, "result")
	}
	return found
}

// chanceNow is what was left to chance until now.
func (n *Node) chanceNow() chance {
	now := n.devices.Chance()
	return chance{
		devices: n.chance.devices || now.Devices,
		files:   n.unordered(),
		result:  n.chance.result || now.Result || n.memory.Chance(),
	}
}

// unordered tells whether some list in a checkpoint file has several members
// in an order of the kubelet's maps.
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
