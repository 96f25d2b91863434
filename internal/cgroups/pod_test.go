package cgroups

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
)

// resourceConfig is the form in which the golden files hold settings.
type resourceConfig struct {
	Memory, CPUQuota, PidsLimit *int64
	CPUShares, CPUPeriod        *uint64
	CPUSet                      string
	HugePageLimit               map[int64]int64
	Unified                     map[string]string
}

func configOf(s Settings) resourceConfig {
	c := resourceConfig{
		Memory: is(s.Memory), CPUQuota: is(s.CPUQuota), PidsLimit: is(s.PidsLimit),
		CPUShares: is(s.CPUShares), CPUPeriod: is(s.CPUPeriod),
		HugePageLimit: map[int64]int64{}, Unified: map[string]string{},
	}
	if s.CPUs != nil {
		c.CPUSet = s.CPUs.Is.String()
	}
	for size, v := range s.HugePages {
		c.HugePageLimit[size] = v.Is
	}
	for file, v := range s.Unified {
		c.Unified[file] = v.Is
	}
	return c
}

func is[T any](v *Value[T]) *T {
	if v == nil {
		return nil
	}
	return &v.Is
}

func values(controls []Control) map[string]string {
	m := map[string]string{}
	for _, c := range controls {
		m[c.Name] = c.Is
	}
	return m
}

// property is a D-Bus value of the golden files: a number, 2^64-1 for infinity,
// or a mask.
type property string

func (p *property) UnmarshalJSON(data []byte) error {
	if string(data) == "18446744073709551615" {
		*p = "infinity"
		return nil
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		*p = property(text)
		return nil
	}
	*p = property(data)
	return nil
}

type goldenCgroup struct {
	Path, Unit, Wants string
	Config            resourceConfig
	Files             map[string]string
	Properties        map[string]property
}

// checkRendered compares files and properties with what the kubelet wrote.
func checkRendered(t *testing.T, what string, want goldenCgroup, got Rendered) {
	t.Helper()
	if diff := cmp.Diff(want.Files, values(got.Files), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s files (-want +got):\n%s", what, diff)
	}
	properties := map[string]property{}
	for _, p := range got.Properties {
		properties[p.Name] = property(p.Is)
	}
	if diff := cmp.Diff(want.Properties, properties, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s properties (-want +got):\n%s", what, diff)
	}
	for _, c := range append(got.Files, got.Properties...) {
		if c.Why == "" && c.Unknown == "" {
			t.Errorf("%s: %s has no reason", what, c.Name)
		}
	}
}

// goldenInput are the fields that the inputs of the pod files share.
type goldenInput struct {
	Pod                     *corev1.Pod
	CPUCFSQuota             bool
	CPUCFSQuotaPeriod       metav1.Duration
	PodPidsLimit            int64
	MemoryReservationPolicy kubeletv1beta1.MemoryReservationPolicy
	MemoryThrottlingFactor  *float64
	ExclusiveCPUContainers  []string
	CgroupRoot              string
	HugePageSizes           []string
	FeatureGates            map[string]bool
}

func (in goldenInput) config(t *testing.T) *kubelet.Config {
	t.Helper()
	cfg, err := kubelet.Load(kubelet.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.CPUCFSQuota, cfg.CPUCFSQuotaPeriod = &in.CPUCFSQuota, &in.CPUCFSQuotaPeriod
	cfg.PodPidsLimit = &in.PodPidsLimit
	if in.MemoryReservationPolicy != "" {
		cfg.MemoryReservationPolicy = in.MemoryReservationPolicy
	}
	cfg.MemoryThrottlingFactor = in.MemoryThrottlingFactor
	cfg.CgroupRoot = in.CgroupRoot
	gates, err := cfg.Gates.With(in.FeatureGates)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Gates = gates
	return cfg
}

func TestPodSettingsGolden(t *testing.T) {
	type version struct {
		Config            resourceConfig
		Cgroupfs, Systemd goldenCgroup
	}
	type podCase struct {
		Name  string
		Input goldenInput
		Want  struct {
			QoSClass corev1.PodQOSClass
			V1, V2   version
		}
	}
	for _, c := range golden[podCase](t, "pod-cgroup.json") {
		t.Run(c.Name, func(t *testing.T) {
			cfg := c.Input.config(t)
			got := PodSettings(c.Input.Pod, cfg, len(c.Input.ExclusiveCPUContainers) > 0)
			if diff := cmp.Diff(c.Want.V2.Config, configOf(got), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("v2 (-want +got):\n%s", diff)
			}
			noUnified := got
			noUnified.Unified = nil
			if diff := cmp.Diff(c.Want.V1.Config, configOf(noUnified), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("v1 (-want +got):\n%s", diff)
			}
			name, err := PodName(Root(cfg.CgroupRoot, true), qos.Class(c.Input.Pod, cfg.Gates), string(c.Input.Pod.UID))
			if err != nil {
				t.Fatal(err)
			}
			for v, want := range map[int]version{1: c.Want.V1, 2: c.Want.V2} {
				for driver, want := range map[string]goldenCgroup{Cgroupfs: want.Cgroupfs, Systemd: want.Systemd} {
					checkRendered(t, driver, want, got.Render(Platform{Driver: driver, Version: v, PageSizes: c.Input.HugePageSizes}))
					if p, err := name.Path(driver); err != nil || p != want.Path {
						t.Errorf("path %q (%v), want %q", p, err, want.Path)
					}
				}
			}
		})
	}
}

// An init container without a limit unbinds the pod's, unless a sidecar with one
// runs before it and the kubelet is older than 1.37.
func TestLimitsOfSidecarsCount(t *testing.T) {
	t.Parallel()
	limited := corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi")}}
	always := corev1.ContainerRestartPolicyAlways
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "sidecar", Resources: limited, RestartPolicy: &always}, {Name: "init"}},
		Containers:     []corev1.Container{{Name: "app", Resources: limited}},
	}}
	unlimited := pod.DeepCopy()
	unlimited.Spec.InitContainers[0].Resources = corev1.ResourceRequirements{}
	for minor, want := range map[kubelet.Minor]bool{35: true, 36: true, 37: false} {
		g := kubelet.DefaultGates(minor)
		if cpu, memory := limitsDeclared(pod, g); cpu != want || memory != want {
			t.Errorf("%s: got cpu %t, memory %t, want %t", minor, cpu, memory, want)
		}
		if cpu, memory := limitsDeclared(unlimited, g); cpu || memory {
			t.Errorf("%s: got cpu %t, memory %t of a sidecar without limits", minor, cpu, memory)
		}
	}
}
