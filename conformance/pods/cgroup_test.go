package pods

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/gen"
	"github.com/kqos/kqos/conformance/oracle/pod"
	"github.com/kqos/kqos/internal/cgroups"
)

// podCgroup is what the settings of a pod's cgroup depend on.
type podCgroup struct {
	Pod          *corev1.Pod     `json:"pod"`
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	pod.CgroupOptions
}

func TestPodCgroup(t *testing.T) {
	check.Property(t, 6000, func(t *rapid.T) {
		in := podCgroup{Pod: check.Pod(t), FeatureGates: gen.KnownGates(podGates()).Draw(t, "gates")}
		in.CgroupOptions = drawOptions(t)
		g, ok := setGates(t, in.FeatureGates)
		if !ok {
			return
		}
		check.Equal(t, in, pod.Cgroup(in.Pod, in.CgroupOptions), check.Resources(cgroups.PodSettings(in.Pod, configOf(t, in.CgroupOptions, g), false)))
	})
}

func TestConversions(t *testing.T) {
	check.Property(t, 3000, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Int64Range(0, 1<<20), rapid.Int64Range(0, math.MaxInt64)).Draw(t, "value")
		period := rapid.SampledFrom([]int64{100000, 1000, 1000000, 12345}).Draw(t, "period")
		// Without the gate the kubelet v1.35 takes no period but its own.
		_, _ = setGates(t, map[string]bool{"CustomCPUCFSQuotaPeriod": true})
		got := pod.Conversions{
			Shares: cgroups.MilliCPUToShares(n), Quota: cgroups.MilliCPUToQuota(n, period),
			Weight: cgroups.SharesToWeight(uint64(n)), RuntimeWeight: cgroups.SharesToWeightRuntime(uint64(n)),
		}
		check.Equal(t, map[string]int64{"value": n, "period": period}, pod.Convert(n, period), got)
	})
}

func TestPodName(t *testing.T) {
	check.Property(t, 2000, func(t *rapid.T) {
		root := rapid.SampledFrom([]string{"", "/", "/kube", "kube/pods", "/a-b/c", "/kube.slice", "//x"}).Draw(t, "root")
		uid := rapid.SampledFrom([]string{"cc32f315-98f7-4d58-8700-df9e05ddda2c", "abc", "", "a_b", "a/b", "-", "a.b", "é"}).Draw(t, "uid")
		class := rapid.SampledFrom([]corev1.PodQOSClass{"Guaranteed", "Burstable", "BestEffort"}).Draw(t, "class")
		driver := rapid.SampledFrom([]string{"systemd", "cgroupfs", ""}).Draw(t, "driver")
		perQOS := rapid.Bool().Draw(t, "per QOS")
		want := pod.Path(root, perQOS, class, uid, driver)
		name, err := cgroups.PodName(cgroups.Root(root, perQOS), class, uid)
		got := ""
		if err == nil {
			if got, err = name.Path(driver); err != nil {
				got = ""
			}
		}
		check.Equal(t, []any{root, perQOS, class, uid, driver}, want, got)
	})
}
