package simulate

import (
	"maps"
	"slices"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/simulate/cpumanager"
)

// Variant is a choice of the policies and options that decide placement.
type Variant struct {
	TopologyPolicy string `json:"topologyManagerPolicy"`
	// TopologyScope is empty under policy none, which has no scopes.
	TopologyScope string `json:"topologyManagerScope,omitempty"`
	CPUPolicy     string `json:"cpuManagerPolicy"`
	// CPUOptions are those of cpuManagerPolicyOptions that are true, sorted.
	CPUOptions []string `json:"cpuManagerPolicyOptions,omitempty"`
}

// variants are all choices, simple ones first. Those of CPU options which
// exclude each other or whose gate is off are left out.
func variants(c *kubelet.Config) []Variant {
	cpus := []Variant{{CPUPolicy: kubelet.CPUPolicyNone}}
	for _, options := range optionSets(c.Gates) {
		cpus = append(cpus, Variant{CPUPolicy: kubelet.CPUPolicyStatic, CPUOptions: options})
	}
	var all []Variant
	for _, policy := range []string{kubelet.TopologyPolicyNone, kubelet.TopologyPolicyBestEffort, kubelet.TopologyPolicyRestricted, kubelet.TopologyPolicySingleNUMANode} {
		scopes := []string{kubelet.TopologyScopeContainer, kubelet.TopologyScopePod}
		if policy == kubelet.TopologyPolicyNone {
			scopes = []string{""}
		}
		for _, scope := range scopes {
			for _, v := range cpus {
				v.TopologyPolicy, v.TopologyScope = policy, scope
				all = append(all, v)
			}
		}
	}
	return all
}

// optionSets are the sets of options that can stand together, small ones first.
func optionSets(g kubelet.Gates) [][]string {
	names := []string{
		cpumanager.OptionAlignBySocket, cpumanager.OptionDistributeAcrossCores, cpumanager.OptionDistributeAcrossNUMA,
		cpumanager.OptionFullPCPUsOnly, cpumanager.OptionPreferAlignByUncore, cpumanager.OptionStrictReservation,
	}
	var sets [][]string
	for bits := range 1 << len(names) {
		var chosen []string
		for i, name := range names {
			if bits>>i&1 == 1 {
				chosen = append(chosen, name)
			}
		}
		if _, err := cpumanager.ParseOptions(optionMap(chosen), g); err == nil {
			sets = append(sets, chosen)
		}
	}
	slices.SortStableFunc(sets, func(a, b []string) int { return len(a) - len(b) })
	return sets
}

func optionMap(names []string) map[string]string {
	options := map[string]string{}
	for _, name := range names {
		options[name] = "true"
	}
	return options
}

// variantOf is the variant that the configuration chooses.
func variantOf(c *kubelet.Config) Variant {
	v := Variant{TopologyPolicy: c.TopologyManagerPolicy, TopologyScope: c.TopologyManagerScope, CPUPolicy: c.CPUManagerPolicy}
	if v.TopologyPolicy == kubelet.TopologyPolicyNone {
		v.TopologyScope = ""
	}
	for _, name := range slices.Sorted(maps.Keys(c.CPUManagerPolicyOptions)) {
		one := map[string]string{name: c.CPUManagerPolicyOptions[name]}
		if o, err := cpumanager.ParseOptions(one, c.Gates); err == nil && o != (cpumanager.Options{}) {
			v.CPUOptions = append(v.CPUOptions, name)
		}
	}
	return v
}

// equal tells whether the choices are the same.
func (v Variant) equal(other Variant) bool {
	return v.TopologyPolicy == other.TopologyPolicy && v.TopologyScope == other.TopologyScope &&
		v.CPUPolicy == other.CPUPolicy && slices.Equal(v.CPUOptions, other.CPUOptions)
}

// on is the configuration with the choice made.
func (v Variant) on(c *kubelet.Config) *kubelet.Config {
	config := *c
	config.TopologyManagerPolicy, config.CPUManagerPolicy = v.TopologyPolicy, v.CPUPolicy
	config.TopologyManagerScope = v.TopologyScope
	if v.TopologyScope == "" {
		config.TopologyManagerScope = kubelet.TopologyScopeContainer
	}
	config.CPUManagerPolicyOptions = optionMap(v.CPUOptions)
	return &config
}
