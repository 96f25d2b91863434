package cpumanager

import (
	"testing"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

func TestOptionStagesOfVersions(t *testing.T) {
	t.Parallel()
	noBeta := map[string]bool{"CPUManagerPolicyBetaOptions": false}
	const refused = `CPU Manager Policy Beta-level Options not enabled, but option `
	tests := []struct {
		option string
		minor  kubelet.Minor
		want   string
	}{
		{OptionFullPCPUsOnly, 34, ""},
		{OptionStrictReservation, 34, refused + `"strict-cpu-reservation" provided`},
		{OptionStrictReservation, 35, ""},
		{OptionPreferAlignByUncore, 35, refused + `"prefer-align-cpus-by-uncorecache" provided`},
		{OptionPreferAlignByUncore, 36, ""},
		{OptionDistributeAcrossNUMA, 37, refused + `"distribute-cpus-across-numa" provided`},
	}
	for _, tt := range tests {
		g, err := kubelet.DefaultGates(tt.minor).With(noBeta)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseOptions(on(tt.option), g); errorText(err) != tt.want {
			t.Errorf("%s in %s: %v, want %q", tt.option, tt.minor, err, tt.want)
		}
	}
}

// TestWholeCoresOfVersions starts a kubelet with full-pcpus-only on a container
// that has half a core.
func TestWholeCoresOfVersions(t *testing.T) {
	t.Parallel()
	for minor, want := range map[kubelet.Minor]string{
		36: "SMT Alignment Error: requested 1 cpus not multiple cpus per core = 2",
		37: "",
	} {
		m, err := New(synthetic(t, "sockets=1,numa=1,cores=4,threads=2"), Config{
			Policy: kubelet.CPUPolicyStatic, Options: on(OptionFullPCPUsOnly), Reservation: quantity("1"), Gates: kubelet.DefaultGates(minor),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Start(State{Default: list("0,2-7"), Entries: entries("p", "c", "1")}); err != nil {
			t.Fatal(err)
		}
		pod := newPod("p", container("c", "1"))
		if got := errorText(m.Allocate(pod, &pod.Spec.Containers[0], topologymanager.Hint{})); got != want {
			t.Errorf("%s: %q, want %q", minor, got, want)
		}
	}
}

// TestBaselinesOfVersions sets the gate that is older than what it now keeps.
func TestBaselinesOfVersions(t *testing.T) {
	t.Parallel()
	for minor, want := range map[kubelet.Minor]int{36: 0, 37: 1} {
		g, err := kubelet.DefaultGates(minor).With(map[string]bool{kubelet.GateExclusiveResize: true})
		if err != nil {
			t.Fatal(err)
		}
		m, err := New(synthetic(t, "sockets=1,numa=1,cores=4,threads=1"), Config{Policy: kubelet.CPUPolicyStatic, Reservation: quantity("1"), Gates: g})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Start(State{}); err != nil {
			t.Fatal(err)
		}
		placed(m, newPod("p", container("c", "1")))
		if got := len(m.State().Baselines); got != want {
			t.Errorf("%s keeps the baselines of %d pods, want %d", minor, got, want)
		}
	}
}
