package allocatable_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
)

// drawConfig makes configurations that the kubelet parses, sane or not.
func drawConfig(t *rapid.T) *kubelet.Config {
	amount := func(name, label string) string {
		if name == "cpu" {
			return fmt.Sprintf("%dm", rapid.IntRange(0, 20_000).Draw(t, label))
		}
		return fmt.Sprint(rapid.Int64Range(0, 1<<40).Draw(t, label))
	}
	reserved := func(label string) map[string]string {
		m := map[string]string{}
		for _, name := range []string{"cpu", "memory", "ephemeral-storage", "pid"} {
			if rapid.Bool().Draw(t, label+name) {
				m[name] = amount(name, label+name+" amount")
			}
		}
		return m
	}
	c, err := kubelet.Load(kubelet.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.SystemReserved, c.KubeReserved = reserved("system "), reserved("kube ")
	c.EvictionHard = map[string]string{}
	for _, signal := range []string{"memory.available", "nodefs.available", "imagefs.available"} {
		switch rapid.IntRange(0, 2).Draw(t, signal) {
		case 1:
			c.EvictionHard[signal] = fmt.Sprintf("%g%%", rapid.Float64Range(0, 100).Draw(t, signal+" percentage"))
		case 2:
			c.EvictionHard[signal] = fmt.Sprint(rapid.Int64Range(1, 1<<36).Draw(t, signal+" amount"))
		}
	}
	c.ReservedSystemCPUs = rapid.SampledFrom([]string{"", "", "0", "0-3"}).Draw(t, "reserved CPUs")
	c.PodsPerCore = rapid.Int32Range(0, 20).Draw(t, "pods per core")
	return c
}

func drawNode(t *rapid.T) allocatable.Node {
	n := allocatable.Node{CgroupVersion: 2, Capacity: corev1.ResourceList{}}
	for name, most := range map[corev1.ResourceName]int64{
		"cpu": 512, "memory": 1 << 40, "ephemeral-storage": 1 << 42, "pid": 1 << 22, "hugepages-2Mi": 1 << 36, "hugepages-1Gi": 1 << 38,
	} {
		if rapid.IntRange(0, 4).Draw(t, "known "+string(name)) > 0 {
			n.Capacity[name] = *resource.NewQuantity(rapid.Int64Range(0, most).Draw(t, string(name)), resource.BinarySI)
		}
	}
	return n
}

// The terms of each resource add up to what is left, which is neither negative
// nor more than there is, and nothing is told of what is unknown.
func TestTermsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, n := drawConfig(t), drawNode(t)
		r, _ := allocatable.Compute(c, n)
		sums := corev1.ResourceList{}
		for _, term := range r.Terms {
			sum := sums[term.Resource]
			sum.Add(term.Amount)
			sums[term.Resource] = sum
		}
		if len(sums) != len(r.Allocatable) || len(r.Allocatable) != len(r.Capacity) {
			t.Fatalf("%d sums, %d allocatable, %d capacities", len(sums), len(r.Allocatable), len(r.Capacity))
		}
		for name, left := range r.Allocatable {
			if sum := sums[name]; sum.Cmp(left) != 0 {
				t.Errorf("%s: the terms add up to %s, allocatable is %s", name, &sum, &left)
			}
			if total := r.Capacity[name]; left.Sign() < 0 || left.Cmp(total) > 0 {
				t.Errorf("%s: %s of %s is allocatable", name, &left, &total)
			}
			if _, known := n.Capacity[name]; !known && name != corev1.ResourcePods {
				t.Errorf("%s is unknown and yet %s", name, &left)
			}
		}
	})
}

// What is enforced on kubepods is never less than what the node's status offers
// to pods, or the scheduler would fill the node beyond its limit.
func TestLimitsCoverAllocatable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, _ := allocatable.Compute(drawConfig(t), drawNode(t))
		for _, e := range r.Enforced {
			for name, limit := range e.Resources {
				if left, ok := r.Allocatable[name]; ok && limit.Cmp(left) < 0 {
					t.Errorf("%s: limit %s, allocatable %s", name, &limit, &left)
				}
			}
		}
	})
}

func BenchmarkCompute(b *testing.B) {
	c, err := kubelet.Load(kubelet.LoadOptions{File: "../../testdata/node/kubelet.yaml"})
	if err != nil {
		b.Fatal(err)
	}
	n := allocatable.Node{CgroupVersion: 2, Capacity: corev1.ResourceList{
		"cpu": resource.MustParse("64"), "memory": resource.MustParse("512Gi"), "ephemeral-storage": resource.MustParse("1Ti"), "pid": resource.MustParse("4194304"),
	}}
	for b.Loop() {
		allocatable.Compute(c, n)
	}
}
