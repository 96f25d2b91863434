package memorymanager

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

var errOtherMachine = errors.New(kubelet.OtherMachine)

// validate holds the restored state against what its entries, the machine and
// the reservations give; a state without nodes is made afresh.
// kubelet v1.37: cm/memorymanager/policy_static.go validateState
func (m *Manager) validate() error {
	expected := m.freshNodes()
	if len(m.nodes) == 0 {
		if len(m.blocks) != 0 {
			return errors.New("[memorymanager] machine state can not be empty when it has memory assignments")
		}
		m.nodes, m.written = expected, true
		return nil
	}
	for _, uid := range slices.Sorted(maps.Keys(m.blocks)) {
		if whole := m.pods[uid].MemoryBlocks; len(whole) > 0 {
			if err := expect(expected, whole, uid, ""); err != nil {
				return err
			}
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(m.blocks[uid])) {
			if err := expect(expected, m.blocks[uid][name], uid, name); err != nil {
				return err
			}
		}
	}
	m.settleGroups(expected)
	return sameMachine(m.nodes, expected)
}

// settleGroups is for nodes that serve both alone and in a group, or in several
// groups. A node's group is that of its last block, and the kubelet books the
// restored blocks in the order of its maps: whether it then starts is chance.
// Here it takes the order that led to the state, where there is one.
func (m *Manager) settleGroups(expected kubelet.NUMANodeMap) {
	served := map[int][]topologymanager.Mask{}
	for uid, containers := range m.blocks {
		blocks := slices.Clone(m.pods[uid].MemoryBlocks)
		if len(blocks) == 0 {
			blocks = slices.Concat(slices.Collect(maps.Values(containers))...)
		}
		for _, b := range blocks {
			mask, err := topologymanager.MaskOf(b.NUMAAffinity...)
			for _, id := range b.NUMAAffinity {
				if err == nil && !slices.Contains(served[id], mask) {
					served[id] = append(served[id], mask)
				}
			}
		}
	}
	for id, masks := range served {
		if len(masks) < 2 {
			continue
		}
		m.chance = true
		if have := m.nodes[id]; have != nil && slices.ContainsFunc(masks, func(mask topologymanager.Mask) bool {
			return slices.Equal(mask.Nodes(), have.Cells)
		}) {
			expected[id].Cells = slices.Clone(have.Cells)
		}
	}
}

// expect books restored blocks.
// kubelet v1.37: cm/memorymanager/policy_static.go updateExpectedMachineState
func expect(nodes kubelet.NUMANodeMap, blocks []kubelet.MemoryBlock, uid, name string) error {
	for _, b := range blocks {
		for _, id := range b.NUMAAffinity {
			if nodes[id] == nil {
				return fmt.Errorf("[memorymanager] (pod: %s, container: %s) the memory assignment uses the NUMA that does not exist", uid, name)
			}
			if nodes[id].MemoryMap[b.Type] == nil {
				return fmt.Errorf("[memorymanager] (pod: %s, container: %s) the memory assignment uses memory resource that does not exist", uid, name)
			}
		}
		charge(nodes, b.NUMAAffinity, b.Type, b.Size)
	}
	return nil
}

// sameMachine compares node by node; free and reserved memory only as sums over
// a group, within which they drift.
// kubelet v1.37: cm/memorymanager/policy_static.go areMachineStatesEqual
func sameMachine(real, expected kubelet.NUMANodeMap) error {
	if len(real) != len(expected) {
		return errOtherMachine
	}
	for _, id := range slices.Sorted(maps.Keys(real)) {
		have, want := real[id], expected[id]
		if want == nil {
			return errOtherMachine
		}
		if have == nil {
			return nilTable(id, "state")
		}
		slices.Sort(have.Cells)
		slices.Sort(want.Cells)
		if have.NumberOfAssignments != want.NumberOfAssignments ||
			!slices.Equal(have.Cells, want.Cells) || len(have.MemoryMap) != len(want.MemoryMap) {
			return errOtherMachine
		}
		for _, typ := range slices.Sorted(maps.Keys(have.MemoryMap)) {
			if err := sameType(real, expected, id, typ); err != nil {
				return err
			}
		}
	}
	return nil
}

func sameType(real, expected kubelet.NUMANodeMap, id int, typ corev1.ResourceName) error {
	have, want := real[id].MemoryMap[typ], expected[id].MemoryMap[typ]
	if want == nil {
		return errOtherMachine
	}
	if have == nil {
		return nilTable(id, typ)
	}
	if have.TotalMemSize != want.TotalMemSize || have.SystemReserved != want.SystemReserved || have.Allocatable != want.Allocatable {
		return errOtherMachine
	}
	var haveSum, wantSum kubelet.MemoryTable
	for _, cell := range real[id].Cells {
		for nodes, sum := range map[*kubelet.NUMANodeMap]*kubelet.MemoryTable{&real: &haveSum, &expected: &wantSum} {
			node := (*nodes)[cell]
			if node == nil || node.MemoryMap[typ] == nil {
				return nilTable(cell, typ)
			}
			sum.Free += node.MemoryMap[typ].Free
			sum.Reserved += node.MemoryMap[typ].Reserved
		}
	}
	if haveSum != wantSum {
		return errOtherMachine
	}
	return nil
}

var _ topologymanager.Provider = (*Manager)(nil)
