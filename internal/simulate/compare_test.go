package simulate

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	n := newNode(t, "topologyManagerPolicy: restricted\ncpuManagerPolicyOptions: {full-pcpus-only: 'true'}", "vendor.com/gpu")
	pods := []*corev1.Pod{guaranteed("a", "5", "1Gi", nil), guaranteed("b", "6", "1Gi", nil), guaranteed("c", "3", "1Gi", nil)}
	outcomes, err := Compare(context.Background(), n.spec, pods, nil)
	if err != nil {
		t.Fatal(err)
	}
	// 7 topology policies with scope; CPU policy none, and 12 sets of the options
	// whose gates are on: any of two, with none or one of two that exclude each
	// other.
	if want := 7 * (1 + 12); len(outcomes) != want {
		t.Errorf("%d choices, want %d", len(outcomes), want)
	}
	if best := outcomes[0]; best.Admitted != len(pods) || best.CPUPolicy != kubelet.CPUPolicyStatic {
		t.Errorf("the best is %+v", best)
	}
	configured := slices.IndexFunc(outcomes, func(o Outcome) bool { return o.Configured })
	if configured < 0 {
		t.Fatal("none is the configured one")
	}
	o := outcomes[configured]
	if !slices.Equal(o.Refused, []string{"a", "c"}) || o.Admitted != 1 || o.CPUsLeft != 8 || o.CrossNUMA != 0 {
		t.Errorf("as configured: %+v", o)
	}
	for _, o := range outcomes {
		if o.Admitted+len(o.Refused) != len(pods) {
			t.Errorf("%+v: %d pods are unaccounted for", o.Variant, len(pods)-o.Admitted-len(o.Refused))
		}
	}
}

func TestCrossed(t *testing.T) {
	t.Parallel()
	n := newNode(t, "", "vendor.com/gpu")
	tests := []struct {
		name      string
		container Container
		numa, llc bool
	}{
		{"one node", Container{CPUs: "1-2", Exclusive: true}, false, false},
		{"two nodes", Container{CPUs: "3-4", Exclusive: true}, true, false},
		{"shared CPUs are everywhere", Container{CPUs: "0-15"}, false, false},
		{"a device elsewhere", Container{CPUs: "4-5", Exclusive: true, Devices: map[string][]string{"vendor.com/gpu": {"d0"}}}, true, false},
		{"memory elsewhere", Container{CPUs: "4-5", Exclusive: true, Memory: []Memory{{NUMA: []int{0}}}}, true, false},
	}
	for _, tt := range tests {
		if numa, llc := n.crossed(&tt.container); numa != tt.numa || llc != tt.llc {
			t.Errorf("%s: crosses NUMA nodes %t, caches %t", tt.name, numa, llc)
		}
	}
}
