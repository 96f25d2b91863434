package node

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/gen"
	"github.com/kqos/kqos/conformance/oracle/files"
	"github.com/kqos/kqos/conformance/oracle/node"
	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/cgroups"
)

// tierInput is a configuration, a host, the memory of the node, and its pods.
type tierInput struct {
	Config gen.Document  `json:"config"`
	Host   node.Host     `json:"host"`
	Memory int64         `json:"memory"`
	Pods   []*corev1.Pod `json:"pods"`
}

// capacity is that of the node, with its page sizes.
func (in tierInput) capacity() corev1.ResourceList {
	list := corev1.ResourceList{
		"cpu": resource.MustParse("8"), "memory": *resource.NewQuantity(in.Memory, resource.BinarySI), "pid": resource.MustParse("32768"),
	}
	for _, size := range in.Host.PageSizes {
		list[corev1.ResourceName("hugepages-"+strings.Replace(size, "B", "i", 1))] = resource.MustParse("0")
	}
	return list
}

func drawTiers(t *rapid.T) tierInput {
	in := tierInput{
		Config: gen.NodeConfig(0).Draw(t, "config"), Memory: rapid.SampledFrom([]int64{8 << 30, 1 << 40}).Draw(t, "memory"),
		Host: node.Host{
			CgroupVersion: rapid.SampledFrom([]int{2, 2, 1}).Draw(t, "cgroup version"),
			PageSizes:     rapid.SampledFrom([][]string{nil, {"2MB", "1GB"}, {"64KB", "2MB"}}).Draw(t, "page sizes"),
		},
	}
	tierConfig(t, in.Config)
	for i := range rapid.IntRange(0, 4).Draw(t, "pods") {
		p := check.Pod(t)
		p.Name, p.UID = fmt.Sprintf("p%d", i), types.UID(fmt.Sprintf("uid%d", i))
		p.Annotations = nil // mirror pods of one hash would share a cgroup
		in.Pods = append(in.Pods, p)
	}
	return in
}

func TestTiers(t *testing.T) {
	dir := t.TempDir()
	check.Property(t, 700, func(t *rapid.T) {
		in := drawTiers(t)
		file, ours := loaded(t, input{Config: in.Config, Host: in.Host}, dir)
		if ours == nil {
			return
		}
		on := allocatable.Node{CgroupVersion: in.Host.CgroupVersion, Capacity: in.capacity()}
		n, _ := cgroups.NewNode(ours, on, ours.CgroupDriver)
		folder, remove := check.Dir(t, dir)
		defer remove()
		want, err := node.Tiers(file, n.Result.Absolute, in.Pods, in.Host, folder)
		if errors.Is(err, strconv.ErrSyntax) {
			return // sums of absurd requests overflow, and the library refuses to write them
		}
		if err != nil {
			t.Fatal(err)
		}
		tree, err := cgroups.Desired(n, in.Pods, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]files.Written{}
		for _, c := range tree.Cgroups {
			written, ok := want[c.Path]
			if !ok {
				continue
			}
			mine := files.Written{Files: maps.Clone(c.Files), Properties: maps.Clone(c.Properties)}
			if c.Level == cgroups.LevelNode {
				// The enforcement of node allocatable writes to kubepods as well.
				maps.DeleteFunc(mine.Files, func(file, _ string) bool { return written.Files[file] == "" })
				maps.DeleteFunc(mine.Properties, func(name, _ string) bool { return written.Properties[name] == "" })
			}
			got[c.Path] = mine
		}
		check.Equal(t, in, want, got)
	})
}

func tierConfig(t *rapid.T, doc gen.Document) {
	doc["failCgroupV1"] = false
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
