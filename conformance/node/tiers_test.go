package node

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/gen"
	"github.com/kqos/kqos/conformance/oracle/node"
	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/cgroups"
)

// tierInput is a configuration, the memory of the node, and its pods.
type tierInput struct {
	Config gen.Document  `json:"config"`
	Memory int64         `json:"memory"`
	Pods   []*corev1.Pod `json:"pods"`
}

func TestTiers(t *testing.T) {
	dir := t.TempDir()
	check.Property(t, 1500, func(t *rapid.T) {
		in := tierInput{Config: gen.NodeConfig(0).Draw(t, "config"), Memory: rapid.SampledFrom([]int64{8 << 30, 1 << 40}).Draw(t, "memory")}
		tierConfig(t, in.Config)
		for i := range rapid.IntRange(0, 4).Draw(t, "pods") {
			p := gen.Pod().Draw(t, "pod")
			p.Name, p.UID = fmt.Sprintf("p%d", i), types.UID(fmt.Sprintf("uid%d", i))
			p.Annotations = nil // mirror pods of one hash would share a cgroup
			in.Pods = append(in.Pods, p)
		}
		theirs, ours := loaded(t, input{Config: in.Config, Host: node.Host{CgroupVersion: 2}}, dir)
		if theirs == nil {
			return
		}
		on := allocatable.Node{CgroupVersion: 2, Capacity: corev1.ResourceList{
			"cpu": resource.MustParse("8"), "memory": *resource.NewQuantity(in.Memory, resource.BinarySI), "pid": resource.MustParse("32768"),
		}}
		n, _ := cgroups.NewNode(ours, on, ours.CgroupDriver)
		want, err := node.Tiers(theirs, n.Result.Absolute, in.Pods)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := cgroups.Desired(n, in.Pods, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]map[string]string{}
		for _, c := range tree.Cgroups {
			written, ok := want[c.Path]
			if !ok {
				continue
			}
			got[c.Path] = maps.Clone(c.Files)
			maps.DeleteFunc(got[c.Path], func(file, _ string) bool {
				// The enforcement of node allocatable writes to kubepods as well.
				_, both := written[file]
				return strings.HasPrefix(file, "hugetlb.") || c.Level == cgroups.LevelNode && !both
			})
		}
		check.Equal(t, in, want, got)
	})
}

func tierConfig(t *rapid.T, doc gen.Document) {
	doc["cgroupDriver"] = rapid.SampledFrom([]string{"systemd", "cgroupfs"}).Draw(t, "driver")
	doc["memoryReservationPolicy"] = rapid.SampledFrom([]string{"None", "TieredReservation"}).Draw(t, "policy")
	gates := map[string]bool{"QOSReserved": rapid.Bool().Draw(t, "gate QOSReserved")}
	if rapid.IntRange(0, 3).Draw(t, "gate MemoryQoS") == 0 {
		gates["MemoryQoS"] = false
	}
	doc["featureGates"] = gates
	if rapid.Bool().Draw(t, "reserve") {
		doc["qosReserved"] = map[string]string{"memory": rapid.SampledFrom([]string{"0%", "50%", "100%"}).Draw(t, "percent")}
	}
}
