package cpumanager

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/kqos/kqos/internal/kubelet"
)

// Names of the static policy's options in cpuManagerPolicyOptions.
// kubelet v1.37: cm/cpumanager/policy_options.go
const (
	OptionFullPCPUsOnly         = "full-pcpus-only"
	OptionDistributeAcrossNUMA  = "distribute-cpus-across-numa"
	OptionAlignBySocket         = "align-by-socket"
	OptionDistributeAcrossCores = "distribute-cpus-across-cores"
	OptionStrictReservation     = kubelet.OptionStrictReservation
	OptionPreferAlignByUncore   = "prefer-align-cpus-by-uncorecache"
)

// Options are the static policy's options, parsed.
type Options struct {
	// FullPCPUsOnly refuses containers whose CPUs would not be whole cores.
	FullPCPUsOnly bool
	// DistributeAcrossNUMA spreads what one NUMA node cannot hold evenly.
	DistributeAcrossNUMA bool
	// AlignBySocket takes the nodes of one socket for aligned.
	AlignBySocket bool
	// DistributeAcrossCores takes CPUs of different cores.
	DistributeAcrossCores bool
	// StrictReservation takes the reserved CPUs out of the shared pool.
	StrictReservation bool
	// PreferAlignByUncore keeps to one uncore cache where it can.
	PreferAlignByUncore bool
}

// stage is the maturity of an option, and the gate that lets it be used.
type stage struct{ name, gate string }

func alpha() stage { return stage{"Alpha", "CPUManagerPolicyAlphaOptions"} }

func beta() stage { return stage{"Beta", "CPUManagerPolicyBetaOptions"} }

// optionStage is the stage of the option in a kubelet of the gates' version;
// known is false for a name that it refuses.
// kubelet v1.34 to v1.37: cm/cpumanager/policy_options.go alphaOptions, betaOptions, stableOptions
func optionStage(option string, g kubelet.Gates) (s stage, known bool) {
	stableSince, known := map[string]kubelet.Minor{
		OptionFullPCPUsOnly: 34, OptionStrictReservation: 35, OptionPreferAlignByUncore: 36,
	}[option]
	switch {
	case known && g.Since(stableSince):
		return stage{}, true
	case known, option == OptionDistributeAcrossNUMA:
		return beta(), true
	case option == OptionAlignBySocket, option == OptionDistributeAcrossCores:
		return alpha(), true
	}
	return stage{}, false
}

// ParseOptions reads cpuManagerPolicyOptions; its errors are the kubelet's.
// Where several options are at fault the kubelet names any of them, here it is
// the first by name.
// kubelet v1.37: cm/cpumanager/policy_options.go NewStaticPolicyOptions
func ParseOptions(values map[string]string, g kubelet.Gates) (Options, error) {
	var o Options
	field := map[string]*bool{
		OptionFullPCPUsOnly:         &o.FullPCPUsOnly,
		OptionDistributeAcrossNUMA:  &o.DistributeAcrossNUMA,
		OptionAlignBySocket:         &o.AlignBySocket,
		OptionDistributeAcrossCores: &o.DistributeAcrossCores,
		OptionStrictReservation:     &o.StrictReservation,
		OptionPreferAlignByUncore:   &o.PreferAlignByUncore,
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		stage, known := optionStage(name, g)
		if !known {
			return o, fmt.Errorf("unknown CPU Manager Policy option: %q", name)
		}
		if stage.gate != "" && !g.Enabled(stage.gate) {
			return o, fmt.Errorf("CPU Manager Policy %s-level Options not enabled, but option %q provided", stage.name, name)
		}
		on, err := strconv.ParseBool(values[name])
		if err != nil {
			return o, fmt.Errorf("bad value for option %q: %w", name, err)
		}
		*field[name] = on
	}
	return o, o.conflict()
}

// conflict names the first pair of options that exclude each other.
func (o Options) conflict() error {
	switch {
	case o.FullPCPUsOnly && o.DistributeAcrossCores:
		return exclude(OptionFullPCPUsOnly, OptionDistributeAcrossCores)
	case o.DistributeAcrossNUMA && o.DistributeAcrossCores:
		return exclude(OptionDistributeAcrossNUMA, OptionDistributeAcrossCores)
	case o.PreferAlignByUncore && o.DistributeAcrossCores:
		return exclude(OptionPreferAlignByUncore, OptionDistributeAcrossCores)
	case o.PreferAlignByUncore && o.DistributeAcrossNUMA:
		return exclude(OptionPreferAlignByUncore, OptionDistributeAcrossNUMA)
	}
	return nil
}

func exclude(a, b string) error {
	return fmt.Errorf("static policy options %s and %s can not be used at the same time", a, b)
}

// fits tells whether the machine and the topology manager's policy allow the
// options.
// kubelet v1.37: cm/cpumanager/policy_options.go ValidateStaticPolicyOptions
func (o Options) fits(t *Topology, topologyPolicy string) error {
	switch {
	case !o.AlignBySocket:
		return nil
	case topologyPolicy == kubelet.TopologyPolicySingleNUMANode:
		// The kubelet's spelling.
		return fmt.Errorf("Topolgy manager %s policy is incompatible with CPUManager %s policy option", kubelet.TopologyPolicySingleNUMANode, OptionAlignBySocket)
	case t.NumSockets > t.NumNUMANodes:
		return errors.New("Align by socket is not compatible with hardware where number of sockets are more than number of NUMA")
	}
	return nil
}
