package cpumanager

import (
	"testing"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/kubelet"
)

func TestRefusedConfigurations(t *testing.T) {
	t.Parallel()
	alpha := []string{"CPUManagerPolicyAlphaOptions"}
	tests := []struct {
		name    string
		gates   []string
		machine string
		config  Config
		want    string
	}{
		{"policy", nil, "", Config{Policy: "dynamic"}, `unknown policy: "dynamic"`},
		{"none with options", nil, "", Config{Policy: kubelet.CPUPolicyNone, Options: on(OptionFullPCPUsOnly)}, "new none policy error: None policy: received unsupported options=map[full-pcpus-only:true]"},
		{"no reservation", nil, "", Config{}, "[cpumanager] unable to determine reserved CPU resources for static policy"},
		{"zero reservation", nil, "", Config{Reservation: quantity("0")}, "[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero"},
		{"reservation too large", nil, "", Config{Reservation: quantity("9")}, "new static policy error: [cpumanager] unable to reserve the required amount of CPUs (size of  did not equal 9)"},
		{"reserved CPUs of another number", nil, "", Config{Reservation: quantity("2"), Reserved: cpuset.New(0)}, "new static policy error: [cpumanager] unable to reserve the required amount of CPUs (size of 0 did not equal 2)"},
		{"unknown option", nil, "", Config{Reservation: quantity("1"), Options: on("full-cores")}, `new static policy error: unknown CPU Manager Policy option: "full-cores"`},
		{"alpha option", nil, "", Config{Reservation: quantity("1"), Options: on(OptionAlignBySocket)}, `new static policy error: CPU Manager Policy Alpha-level Options not enabled, but option "align-by-socket" provided`},
		{"bad value", nil, "", Config{Reservation: quantity("1"), Options: map[string]string{OptionFullPCPUsOnly: "yes"}}, `new static policy error: bad value for option "full-pcpus-only": strconv.ParseBool: parsing "yes": invalid syntax`},
		{
			"excluding pair", alpha, "",
			Config{Reservation: quantity("1"), Options: on(OptionFullPCPUsOnly, OptionDistributeAcrossCores)},
			"new static policy error: static policy options full-pcpus-only and distribute-cpus-across-cores can not be used at the same time",
		},
		{
			"uncore and NUMA", nil, "",
			Config{Reservation: quantity("1"), Options: on(OptionPreferAlignByUncore, OptionDistributeAcrossNUMA)},
			"new static policy error: static policy options prefer-align-cpus-by-uncorecache and distribute-cpus-across-numa can not be used at the same time",
		},
		{
			"align-by-socket with single-numa-node", alpha, "",
			Config{Reservation: quantity("1"), Options: on(OptionAlignBySocket), TopologyPolicy: "single-numa-node"},
			"new static policy error: Topolgy manager single-numa-node policy is incompatible with CPUManager align-by-socket policy option",
		},
		{
			"align-by-socket with more sockets than nodes", alpha, "sockets=2,numa=1,cores=4,threads=1",
			Config{Reservation: quantity("1"), Options: on(OptionAlignBySocket)},
			"new static policy error: Align by socket is not compatible with hardware where number of sockets are more than number of NUMA",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			description := "sockets=1,numa=1,cores=8,threads=1"
			if tt.machine != "" {
				description = tt.machine
			}
			if tt.config.Policy == "" {
				tt.config.Policy = kubelet.CPUPolicyStatic
			}
			tt.config.Gates = gates(t, tt.gates...)
			_, err := New(synthetic(t, description), tt.config)
			if got := errorText(err); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}
