package topologymanager

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
)

// Options of topologyManagerPolicyOptions.
const (
	OptionPreferClosest = "prefer-closest-numa-nodes"
	OptionMaxNodes      = "max-allowable-numa-nodes"
)

// defaultMaxNodes is the number of NUMA nodes above which the kubelet fears the
// number of combinations, and the least that the option may name.
const defaultMaxNodes = 8

// Config is what a topology manager is made of.
type Config struct {
	// Policy, Scope and Options are the fields of the KubeletConfiguration.
	Policy, Scope string
	Options       map[string]string
	// Nodes are all NUMA nodes, those without CPUs included.
	Nodes []machine.Node
	Gates kubelet.Gates
}

// Manager admits pods under one policy.
type Manager struct {
	// Providers are asked, and allocate, in this order: device, cpu, memory.
	Providers []Provider

	policy, scope string
	gates         kubelet.Gates
	nodes         Mask
	distances     map[int][]int
}

// New makes the manager or fails with the kubelet's error. Policy none ignores
// scope and options.
// kubelet v1.37: cm/topologymanager/topology_manager.go NewManager
func New(c Config) (*Manager, error) {
	m := &Manager{policy: c.Policy, scope: c.Scope, gates: c.Gates}
	if c.Policy == kubelet.TopologyPolicyNone {
		return m, nil
	}
	closest, maxNodes, err := parseOptions(c.Options)
	if err != nil {
		return nil, err
	}
	if closest {
		m.distances = map[int][]int{}
		for _, n := range c.Nodes {
			if n.Distances == nil {
				return nil, errors.New("cannot discover NUMA topology: error getting NUMA distances from cadvisor")
			}
			m.distances[n.ID] = n.Distances
		}
	}
	if len(c.Nodes) > maxNodes {
		return nil, fmt.Errorf("unsupported on machines with more than %v NUMA Nodes", maxNodes)
	}
	// A node that fits no mask leaves the kubelet with a nil default mask and a
	// crash at the first admission; it is refused here.
	ids := make([]int, len(c.Nodes))
	for i, n := range c.Nodes {
		ids[i] = n.ID
	}
	if m.nodes, err = MaskOf(ids...); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{kubelet.TopologyPolicyBestEffort, kubelet.TopologyPolicyRestricted, kubelet.TopologyPolicySingleNUMANode}, c.Policy) {
		return nil, fmt.Errorf("unknown policy: \"%s\"", c.Policy)
	}
	if c.Scope != kubelet.TopologyScopeContainer && c.Scope != kubelet.TopologyScopePod {
		return nil, fmt.Errorf("unknown scope: \"%s\"", c.Scope)
	}
	return m, nil
}

// CheckOptions is the kubelet's error on options that it does not take.
func CheckOptions(options map[string]string) error {
	_, _, err := parseOptions(options)
	return err
}

// parseOptions reads the options by rising name, where the kubelet takes its
// map's order.
// kubelet v1.37: cm/topologymanager/policy_options.go NewPolicyOptions
func parseOptions(options map[string]string) (closest bool, maxNodes int, err error) {
	maxNodes = defaultMaxNodes
	for _, name := range slices.Sorted(maps.Keys(options)) {
		value := options[name]
		switch name {
		case OptionPreferClosest:
			if closest, err = strconv.ParseBool(value); err != nil {
				return false, 0, fmt.Errorf("bad value for option %q: %w", name, err)
			}
		case OptionMaxNodes:
			if maxNodes, err = strconv.Atoi(value); err != nil {
				return false, 0, fmt.Errorf("unable to convert policy option to integer %q: %w", name, err)
			}
			if maxNodes < defaultMaxNodes {
				return false, 0, fmt.Errorf("the minimum value of %q should not be less than %v", name, defaultMaxNodes)
			}
		default:
			return false, 0, fmt.Errorf("unknown Topology Manager Policy option: %q", name)
		}
	}
	return closest, maxNodes, nil
}

// choose merges the lists and applies the policy.
// kubelet v1.37: cm/topologymanager/policy_*.go Merge, canAdmitPodResult
func (m *Manager) choose(lists [][]Hint) (best Hint, admit bool, err error) {
	single := m.policy == kubelet.TopologyPolicySingleNUMANode
	o := order{distances: m.distances}
	if single {
		lists = singleNode(lists)
		o.distances = nil
	}
	o.target = target(lists)
	if best, err = merge(lists, m.nodes, o); err != nil {
		return Hint{}, false, err
	}
	if single && best.Affinity == m.nodes {
		best.Affinity = 0
	}
	return best, best.Preferred || m.policy == kubelet.TopologyPolicyBestEffort, nil
}

// singleNode keeps preferred hints of one node or of none.
// kubelet v1.37: cm/topologymanager/policy_single_numa_node.go filterSingleNumaHints
func singleNode(lists [][]Hint) [][]Hint {
	kept := make([][]Hint, len(lists))
	for i, list := range lists {
		for _, h := range list {
			if h.Preferred && h.Affinity.Count() <= 1 {
				kept[i] = append(kept[i], h)
			}
		}
	}
	return kept
}
