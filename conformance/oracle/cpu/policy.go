// Package cpu runs the static policy of the kubelet's CPU manager.
//
//	p, err := cpu.New(m, cpu.Config{Options: map[string]string{"full-pcpus-only": "true"}, Reserved: 1})
//	err = p.Allocate(pod, &pod.Spec.Containers[0], nil)
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
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/conformance/oracle/cadvisor"
	"github.com/kqos/kqos/internal/machine"
)

// Config is what the policy is made of.
type Config struct {
	Options        map[string]string
	Reserved       int
	TopologyPolicy string
}

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

func (s *store) GetAffinity(klog.Logger, string, string) topologymanager.TopologyHint {
	return topologymanager.TopologyHint{NUMANodeAffinity: s.affinity}
}

func (s *store) Name() string { return "container" }

func (s *store) GetPolicy() topologymanager.Policy { return s.policy }

// State is what a cpu_manager_state holds.
type State struct {
	Default cpuset.CPUSet
	Entries map[string]map[string]cpuset.CPUSet
	Pods    map[string]cpuset.CPUSet
}

// New makes a policy that finds the state, none on a fresh node; the gates are
// those set in the process.
func New(m *machine.Machine, c Config, found State) (p *Policy, err error) {
	defer recovered(&err)
	topo, err := topology.Discover(klog.Logger{}, cadvisor.Info(m))
	if err != nil {
		return nil, err
	}
	s := &store{policy: topologymanager.NewNonePolicy()}
	if c.TopologyPolicy == topologymanager.PolicySingleNumaNode {
		s.policy = topologymanager.NewSingleNumaNodePolicy(&topologymanager.NUMAInfo{}, topologymanager.PolicyOptions{})
	}
	policy, err := cpumanager.NewStaticPolicy(klog.Logger{}, topo, c.Reserved, cpuset.New(), s, c.Options)
	if err != nil {
		return nil, err
	}
	memory := state.NewMemoryState(klog.Logger{})
	memory.SetDefaultCPUSet(found.Default)
	memory.SetCPUAssignments(found.Entries)
	pods := state.PodCPUAssignments{}
	for uid, cpus := range found.Pods {
		pods[uid] = state.PodEntry{CPUSet: cpus}
	}
	memory.SetPodCPUAssignments(pods)
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
		found = p.policy.GetPodTopologyHints(klog.Logger{}, p.state, pod, lifecycle.AddOperation)
	} else {
		found = p.policy.GetTopologyHints(klog.Logger{}, p.state, pod, c, lifecycle.AddOperation)
	}
	for resource, list := range found {
		hints = map[string][]Hint{resource: {}}
		for _, h := range list {
			hints[resource] = append(hints[resource], Hint{h.NUMANodeAffinity.GetBits(), h.Preferred})
		}
	}
	return hints, nil
}

// Hint is a topology hint.
type Hint struct {
	Nodes     []int `json:"nodes"`
	Preferred bool  `json:"preferred"`
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
		return p.policy.AllocatePod(klog.Logger{}, p.state, pod, lifecycle.AddOperation)
	}
	return p.policy.Allocate(klog.Logger{}, p.state, pod, c, lifecycle.AddOperation)
}

// Remove takes the container's CPUs back.
func (p *Policy) Remove(pod, container string) error {
	return p.policy.RemoveContainer(klog.Logger{}, p.state, pod, container)
}

// State is the policy's state.
func (p *Policy) State() state.Reader { return p.state }
