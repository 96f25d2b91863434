package kubelet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
)

// loadFlags loads a small file with drop-ins, and the flags over them.
func loadFlags(t *testing.T, gates map[string]bool, flags ...string) (*Config, error) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("config.yaml", "maxPods: 50\nsystemReserved: {cpu: 100m, pid: \"10\"}\nfeatureGates: {MemoryQoS: true}\n")
	write("conf.d/10-a.conf", "maxPods: 60\n")
	return Load(LoadOptions{File: filepath.Join(dir, "config.yaml"), Dir: filepath.Join(dir, "conf.d"), Gates: gates, Flags: flags})
}

func TestFlagsWin(t *testing.T) {
	c, err := loadFlags(t, nil,
		"--config=/etc/kubelet.yaml", "--node-ip", "192.0.2.1", "--v=2", // of no matter here
		"--max_pods=70", "--system-reserved", "cpu=200m", "--system-reserved=memory=1Gi",
		"--eviction-hard=memory.available<1Gi,nodefs.available<10%", "--cgroup-driver=systemd", "--fail-swap-on=false",
		"--enforce-node-allocatable=pods,kube-reserved", "--cpu-cfs-quota-period=50ms", "--pod-max-pids=300",
		"--reserved-memory=0:memory=1Gi,hugepages-2Mi=4Mi;1:memory=2Gi", "--reserved-memory", "2:memory=1Gi",
		"--feature-gates=TopologyManagerPolicyAlphaOptions=true",
	)
	if err != nil {
		t.Fatal(err)
	}
	type facts struct {
		MaxPods        int32
		System, Hard   map[string]string
		Driver         string
		Swap           bool
		Enforce        []string
		Period         string
		Pids           int64
		Memory         []kubeletv1beta1.MemoryReservation
		MemoryQoS, Top bool
		Written        bool
	}
	got := facts{
		c.MaxPods, c.SystemReserved, c.EvictionHard, c.CgroupDriver, *c.FailSwapOn, c.EnforceNodeAllocatable, c.CPUCFSQuotaPeriod.Duration.String(),
		*c.PodPidsLimit, c.ReservedMemory, c.Gates.Enabled("MemoryQoS"), c.Gates.Enabled("TopologyManagerPolicyAlphaOptions"), c.Written["cgroupDriver"],
	}
	memory := func(node int32, limits map[corev1.ResourceName]string) kubeletv1beta1.MemoryReservation {
		list := corev1.ResourceList{}
		for name, text := range limits {
			list[name] = resource.MustParse(text)
		}
		return kubeletv1beta1.MemoryReservation{NumaNode: node, Limits: list}
	}
	want := facts{
		MaxPods: 70, System: map[string]string{"cpu": "200m", "memory": "1Gi"},
		Hard:   map[string]string{"memory.available": "1Gi", "nodefs.available": "10%"},
		Driver: "systemd", Enforce: []string{"pods", "kube-reserved"}, Period: "50ms", Pids: 300,
		Memory: []kubeletv1beta1.MemoryReservation{
			memory(0, map[corev1.ResourceName]string{"memory": "1Gi", "hugepages-2Mi": "4Mi"}),
			memory(1, map[corev1.ResourceName]string{"memory": "2Gi"}),
			memory(2, map[corev1.ResourceName]string{"memory": "1Gi"}),
		},
		MemoryQoS: true, Top: true, Written: true,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error("-want +got:\n" + d)
	}
}

// TestFlagsAlone are a kubelet without a file: its defaults of the command line
// hold, no thresholds among them.
func TestFlagsAlone(t *testing.T) {
	c, err := Load(LoadOptions{Flags: []string{"--max-pods=7", "--kube-reserved=cpu=1"}})
	if err != nil {
		t.Fatal(err)
	}
	if c.MaxPods != 7 || c.KubeReserved["cpu"] != "1" || len(c.EvictionHard) != 0 || c.ReadOnlyPort != 10255 {
		t.Errorf("maxPods %d, kubeReserved %v, evictionHard %v, readOnlyPort %d", c.MaxPods, c.KubeReserved, c.EvictionHard, c.ReadOnlyPort)
	}
	if d := cmp.Diff([]string{"kube-reserved", "max-pods"}, c.Flags); d != "" {
		t.Error("-want +got:\n" + d)
	}
}

// TestGivenGatesWin holds that gates named to kqos win over the command line's.
func TestGivenGatesWin(t *testing.T) {
	c, err := loadFlags(t, map[string]bool{"MemoryQoS": false}, "--feature-gates=MemoryQoS=true,NodeSwap=true")
	if err != nil {
		t.Fatal(err)
	}
	if c.Gates.Enabled("MemoryQoS") {
		t.Error("MemoryQoS is on")
	}
}

func TestFlagsRefused(t *testing.T) {
	for _, flag := range []string{
		"--max-pods=many", "--system-reserved=cpu", "--eviction-hard=memory.available=1Gi", "--reserved-memory=0",
		"--reserved-memory=x:memory=1Gi", "--reserved-memory=0:cpu=1", "--reserved-memory=0:memory", "--reserved-memory=0:memory=1e999999999",
		"--feature-gates=MemoryQoS=maybe",
	} {
		if _, err := loadFlags(t, nil, flag); err == nil {
			t.Errorf("%s: no error", flag)
		}
	}
}
