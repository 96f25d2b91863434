package simulate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
)

func benchSpec(b *testing.B, topology string) Spec {
	b.Helper()
	m, err := machine.ParseSynthetic(topology)
	if err != nil {
		b.Fatal(err)
	}
	c, err := kubelet.Load(kubelet.LoadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	c.CPUManagerPolicy, c.MemoryManagerPolicy, c.TopologyManagerPolicy = "static", "Static", "best-effort"
	c.KubeReserved = map[string]string{"cpu": "2", "memory": "1Gi"}
	c.EvictionHard = map[string]string{"memory.available": "100Mi"}
	c.ReservedMemory = []kubeletv1beta1.MemoryReservation{{NumaNode: 0, Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1124Mi")}}}
	return Spec{Config: c, Machine: m}
}

func benchPod(i int, cpu, memory string) *corev1.Pod {
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Limits: limits, Requests: limits}}}}}
	p.Name = fmt.Sprintf("p%d", i)
	p.UID = types.UID(p.Name)
	return p
}

// One pod comes and goes on 512 CPUs and 8 NUMA nodes; the aim is 1 ms.
func BenchmarkAdmit(b *testing.B) {
	n, err := NewNode(benchSpec(b, "synthetic:sockets=2,numa=8,cores=256,threads=2,memory=2Ti"), nil)
	if err != nil {
		b.Fatal(err)
	}
	pod := benchPod(0, "16", "64Gi")
	for b.Loop() {
		if a := n.Add(pod); !a.Verdict.Admitted {
			b.Fatal(a.Verdict.Message)
		}
		n.Remove(pod.UID)
	}
}

// 250 pods fill a node of 128 CPUs, half of them with CPUs of their own as far
// as those go; the aim is 20 ms.
func BenchmarkFill(b *testing.B) {
	spec := benchSpec(b, "synthetic:sockets=2,numa=2,cores=64,threads=2,memory=512Gi")
	pods := make([]*corev1.Pod, 250)
	for i := range pods {
		pods[i] = benchPod(i, []string{"1", "500m"}[i%2], "1Gi")
	}
	for b.Loop() {
		n, err := NewNode(spec, nil)
		if err != nil {
			b.Fatal(err)
		}
		for _, p := range pods {
			n.Add(p)
		}
	}
}

// A thousand scenarios of the recorded kinds.
func BenchmarkScenarios(b *testing.B) {
	var scenarios []*Scenario
	paths, err := filepath.Glob("../../testdata/golden/placement/*.json")
	if err != nil {
		b.Fatal(err)
	}
	for len(scenarios) < 1000 {
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			set, _, err := ReadScenarios(data)
			if err != nil {
				b.Fatal(err)
			}
			scenarios = append(scenarios, set...)
		}
	}
	scenarios = scenarios[:1000]
	for b.Loop() {
		if _, err := RunAll(context.Background(), scenarios, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
