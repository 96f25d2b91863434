// Package cpu runs the static policy of the kubelet's CPU manager.
//
//	lines, err := cpu.Live(cpu.Life{Machine: m, Options: map[string]string{"full-pcpus-only": "true"}, Reserved: 1, Steps: steps}, 10)
package cpu

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/state"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/topology"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager/bitmask"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/conformance/oracle/cadvisor"
	"github.com/kqos/kqos/conformance/oracle/gates"
)

// Policy is the kubelet's static policy and its state.
type Policy struct {
	policy cpumanager.Policy
	state  state.State
	store  *store
}

// store stands in for the topology manager.
type store struct {
	affinity bitmask.BitMask
	policy   topologymanager.Policy
}

func (s *store) Name() string { return "container" }

func (s *store) GetPolicy() topologymanager.Policy { return s.policy }

// New makes the policy of a life, of the kubelet that is linked, which finds the state: none on a fresh node.
func New(l Life, found State) (p *Policy, err error) {
	defer recovered(&err)
	if err := gates.Set(l.FeatureGates); err != nil {
		return nil, err
	}
	topo, err := topology.Discover(klog.Logger{}, cadvisor.Info(l.Machine))
	if err != nil {
		return nil, err
	}
	s := &store{policy: topologymanager.NewNonePolicy()}
	if l.TopologyPolicy == topologymanager.PolicySingleNumaNode {
		s.policy = topologymanager.NewSingleNumaNodePolicy(&topologymanager.NUMAInfo{}, topologymanager.PolicyOptions{})
	}
	policy, err := cpumanager.NewStaticPolicy(klog.Logger{}, topo, l.Reserved, cpuset.New(), s, l.Options)
	if err != nil {
		return nil, err
	}
	memory := state.NewMemoryState(klog.Logger{})
	if err := found.restore(memory); err != nil {
		return nil, err
	}
	return &Policy{policy, memory, s}, policy.Start(klog.Logger{}, memory)
}

// recovered turns a crash of the kubelet's code into an error.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("panic: %v", r)
	}
}

// Hints are the hints for a container, or for the pod where it is nil; each as
// the node ids, with a + when preferred.
func (p *Policy) Hints(pod *corev1.Pod, c *corev1.Container) (hints map[string][]Hint, err error) {
	defer recovered(&err)
	var found map[string][]topologymanager.TopologyHint
	if c == nil {
		found = p.podHints(pod)
	} else {
		found = p.containerHints(pod, c)
	}
	for resource, list := range found {
		hints = map[string][]Hint{resource: {}}
		for _, h := range list {
			hints[resource] = append(hints[resource], Hint{h.NUMANodeAffinity.GetBits(), h.Preferred})
		}
	}
	return hints, nil
}

// Allocate gives the container, or the pod where it is nil, its CPUs; nil nodes
// are no affinity.
func (p *Policy) Allocate(pod *corev1.Pod, c *corev1.Container, nodes []int) (err error) {
	defer recovered(&err)
	p.store.affinity = nil
	if nodes != nil {
		if p.store.affinity, err = bitmask.NewBitMask(nodes...); err != nil {
			return err
		}
	}
	if c == nil {
		return p.allocatePod(pod)
	}
	return p.allocateContainer(pod, c)
}

// Remove takes the container's CPUs back.
func (p *Policy) Remove(pod, container string) error {
	return p.policy.RemoveContainer(klog.Logger{}, p.state, pod, container)
}

// State is what the policy has given out.
func (p *Policy) State() State {
	return State{
		Default: p.state.GetDefaultCPUSet().String(),
		Entries: texts(p.state.GetCPUAssignments()),
		Pods:    pods(p.state),
	}
}
