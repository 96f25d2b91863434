package kubelet

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
)

func TestLoadOfNothing(t *testing.T) {
	c, err := Load(LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.EvictionHard) != 0 {
		t.Errorf("without a file there are no eviction thresholds, got %v", c.EvictionHard)
	}
	got := []any{*c.CgroupsPerQOS, c.CgroupDriver, c.EnforceNodeAllocatable, *c.PodPidsLimit, c.MaxPods, *c.FailCgroupV1, c.CPUCFSQuotaPeriod.Duration, c.MemoryThrottlingFactor == nil, string(c.MemoryReservationPolicy), *c.SerializeImagePulls}
	want := []any{true, "cgroupfs", []string{"pods"}, int64(-1), int32(110), true, 100 * time.Millisecond, true, "None", true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSetDefaultsKeepsWhatIsSet(t *testing.T) {
	two := int32(2)
	c := kubeletv1beta1.KubeletConfiguration{EnforceNodeAllocatable: []string{}, MaxParallelImagePulls: &two}
	c.NodeStatusUpdateFrequency.Duration = 7 * time.Second
	if err := setDefaults(&c, Gates{}); err != nil {
		t.Fatal(err)
	}
	if c.EnforceNodeAllocatable == nil || len(c.EnforceNodeAllocatable) != 0 {
		t.Errorf("an empty list became %v", c.EnforceNodeAllocatable)
	}
	if *c.SerializeImagePulls {
		t.Error("parallel pulls are serialized")
	}
	if got := c.NodeStatusReportFrequency.Duration; got != 7*time.Second {
		t.Errorf("the report frequency is %s, not the update frequency that was set", got)
	}
}

func TestSetDefaultsRefusesGates(t *testing.T) {
	c := kubeletv1beta1.KubeletConfiguration{FeatureGates: map[string]bool{"NoSuchGate": true}}
	want := "failed to merge global and in-flight KubeletConfiguration while setting defaults, error: unrecognized feature gate: NoSuchGate"
	if got := errText(setDefaults(&c, Gates{})); got != want {
		t.Errorf("error %q, want %q", got, want)
	}
}
