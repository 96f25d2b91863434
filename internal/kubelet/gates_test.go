package kubelet

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGateDefaults(t *testing.T) {
	type state struct {
		On   bool
		Spec GateSpec
	}
	for name, want := range map[string]map[Minor]state{
		// Facts of Kubernetes' own feature gate tables at the release named.
		"MemoryQoS": {
			36: {false, GateSpec{StageAlpha, false, false}},
			37: {true, GateSpec{StageBeta, true, false}},
		},
		"CustomCPUCFSQuotaPeriod": {
			35: {false, GateSpec{StageAlpha, false, false}},
			36: {true, GateSpec{StageGA, true, false}},
		},
		"NodeSwap":                     {37: {true, GateSpec{StageGA, true, true}}},
		"PodLevelResourceManagers":     {35: {false, GateSpec{Stage: StageUnknown}}, 37: {false, GateSpec{StageBeta, false, false}}},
		"DRAFractionalCapacityRange":   {37: {false, GateSpec{StageBeta, false, false}}},
		"NativeHistograms":             {37: {true, GateSpec{StageBeta, true, false}}},
		"ContextualLogging":            {37: {true, GateSpec{StageBeta, true, false}}},
		"TopologyManagerPolicyOptions": {35: {true, GateSpec{StageGA, true, false}}, 37: {true, GateSpec{StageGA, true, true}}},
		"SidecarContainers":            {35: {true, GateSpec{StageGA, true, true}}, 37: {false, GateSpec{Stage: StageUnknown}}},
		// Registered by a package that the kubelet only links.
		"ControllerManagerReleaseLeaderElectionLockOnExit": {35: {false, GateSpec{Stage: StageUnknown}}, 37: {false, GateSpec{StageAlpha, false, false}}},
		"NoSuchGate":                       {37: {false, GateSpec{Stage: StageUnknown}}},
		"DisableCPUQuotaWithExclusiveCPUs": {37: {true, GateSpec{StageDeprecated, true, true}}},
	} {
		got := map[Minor]state{}
		for minor := range want {
			g := DefaultGates(minor)
			got[minor] = state{g.Enabled(name), g.Spec(name)}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if !(Gates{}).Enabled("MemoryQoS") {
		t.Error("the zero value does not have the defaults of 1.37")
	}
}

func TestGatesWith(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  map[string]bool
		on   map[string]bool
		err  string
	}{
		{name: "plain", set: map[string]bool{"MemoryQoS": false, "QOSReserved": true}, on: map[string]bool{"MemoryQoS": false, "QOSReserved": true}},
		{name: "unknown", set: map[string]bool{"NoSuchGate": true}, err: "unrecognized feature gate: NoSuchGate"},
		{name: "locked", set: map[string]bool{"NodeSwap": false}, err: "cannot set feature gate NodeSwap to false, feature is locked to true"},
		{name: "locked to the same", set: map[string]bool{"NodeSwap": true}, on: map[string]bool{"NodeSwap": true}},
		{name: "several", set: map[string]bool{"Zzz": true, "Aaa": true}, err: "[unrecognized feature gate: Aaa, unrecognized feature gate: Zzz]"},
		{
			name: "dependency", set: map[string]bool{"PodLevelResources": false, "PodLevelResourcesFixDefaulting": false, "PodLevelResourcesFixKubeletQOSClass": false},
			err: "InPlacePodLevelResourcesVerticalScaling is enabled, but depends on features that are disabled: [PodLevelResources]",
		},
		{name: "all alpha but one", set: map[string]bool{"AllAlpha": true, "GenericWorkload": true, "QOSReserved": false}, on: map[string]bool{"QOSReserved": false, "CPUManagerPolicyAlphaOptions": true}},
		{name: "all beta off", set: map[string]bool{"AllBeta": false}, on: map[string]bool{"MemoryQoS": false, "NodeSwap": true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, err := Gates{}.With(tt.set)
			if got := errText(err); got != tt.err {
				t.Fatalf("error %q, want %q", got, tt.err)
			}
			for name, want := range tt.on {
				if g.Enabled(name) != want {
					t.Errorf("%s is %t, want %t", name, !want, want)
				}
			}
		})
	}
}

// A second call sees the names of the first, as the kubelet's flags and file do.
func TestGatesWithTwice(t *testing.T) {
	g, err := Gates{}.With(map[string]bool{"AllAlpha": true, "GenericWorkload": true})
	if err != nil {
		t.Fatal(err)
	}
	g, err = g.With(map[string]bool{"QOSReserved": false})
	if err != nil {
		t.Fatal(err)
	}
	if g.Enabled("QOSReserved") || !g.Enabled("CPUManagerPolicyAlphaOptions") {
		t.Error("the second call lost a value")
	}
	if diff := cmp.Diff(map[string]bool{"AllAlpha": true, "GenericWorkload": true, "QOSReserved": false}, g.Overrides()); diff != "" {
		t.Errorf("overrides (-want +got):\n%s", diff)
	}
}

func TestParseGates(t *testing.T) {
	got, err := ParseGates("A=true,, B = 0")
	if diff := cmp.Diff(map[string]bool{"A": true, "B": false}, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"A":     `malformed pair "A", expect string=bool`,
		"A=yes": `invalid value of A: yes, err: strconv.ParseBool: parsing "yes": invalid syntax`,
	} {
		if _, err := ParseGates(text); errText(err) != want {
			t.Errorf("%s: error %q, want %q", text, errText(err), want)
		}
	}
}

// Every dependency names a gate that its version knows, or With could refuse
// what no kubelet refuses.
func TestGateTableIsWhole(t *testing.T) {
	// One more than Versions, to tell since when a gate is what it is.
	const oldest Minor = 34
	for minor := oldest; minor <= Latest; minor++ {
		n := 0
		for range gateTable().all(minor) {
			n++
		}
		if n < 200 {
			t.Errorf("%s has %d gates", minor, n)
		}
		for name, needs := range gateTable().dependencies(minor) {
			for _, need := range append(needs, name) {
				if DefaultGates(minor).Spec(need).Stage == StageUnknown {
					t.Errorf("%s: %s of %s is unknown", minor, need, name)
				}
			}
		}
		if _, err := DefaultGates(minor).With(nil); err != nil {
			t.Errorf("%s: the defaults contradict each other: %v", minor, err)
		}
	}
}

// A gate of another name would be off without a word.
func TestNamedGatesAreKnown(t *testing.T) {
	for _, name := range []string{
		GatePodLevelResources, GateFixKubeletQOSClass, GatePodLevelManagers, GatePodLevelResize,
		GateDRANodeAllocatable, GateExclusiveResize, GateMemoryQoS, GateCustomPeriod,
	} {
		if DefaultGates(Latest).Spec(name).Stage == StageUnknown {
			t.Errorf("%s has no gate %s", Latest, name)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func FuzzParseGates(f *testing.F) {
	f.Add("MemoryQoS=true,QOSReserved=false")
	f.Add("AllAlpha=1,=,x=T")
	f.Fuzz(func(t *testing.T, text string) {
		set, err := ParseGates(text)
		if err != nil {
			return
		}
		g, err := Gates{}.With(set)
		if err != nil {
			return
		}
		for name, want := range set {
			if g.Enabled(name) != want {
				t.Errorf("%s is %t", name, !want)
			}
		}
	})
}
