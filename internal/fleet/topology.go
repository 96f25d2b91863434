package fleet

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate"
)

// Topology is what is known of a node's hardware.
type Topology struct {
	Machine *machine.Machine
	// Files are the kubelet's checkpoint files; nil where they are not known.
	Files simulate.Files
	// Source says where it was read.
	Source string
}

// machine is nil where nothing is known.
func (t *Topology) machine() *machine.Machine {
	if t == nil {
		return nil
	}
	return t.Machine
}

// topology finds the node's: a file of its own before an object of the stream.
func (j *judged) topology(ctx context.Context, o *Options) *Topology {
	n := j.node
	var t *Topology
	switch {
	case o.HasTopology != nil && o.HasTopology(n.name):
		var err error
		if t, err = o.Topology(ctx, n.name); err != nil {
			j.find(FindingTopology, "take it anew: kqos topology -o json on the node, or kqos collect", "the node's topology can't be read: %v", err)
			return nil
		}
	case n.machine != nil:
		t = &Topology{Machine: n.machine, Source: kindTopology}
	default:
		return nil
	}
	j.out.Topology = t.Source
	if have, told := int64(t.Machine.NumCPUs())*1000, n.capacity[corev1.ResourceCPU]; have != told {
		j.find(FindingTopology, "take it anew: kqos topology -o json on the node, or kqos collect",
			"the topology has %s CPUs, the node reports %s", quantityOf(corev1.ResourceCPU, have), quantityOf(corev1.ResourceCPU, told))
		return nil
	}
	if err := simulate.CheckMachine("", t.Machine); err != nil {
		j.find(FindingTopology, "take it anew: kqos topology -o json on the node", "the topology contradicts itself: %v", err)
		return nil
	}
	return t
}
