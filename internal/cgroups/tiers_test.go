package cgroups

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/allocatable"
)

type tierCase struct {
	Name  string
	Input struct {
		goldenInput
		Pods              []*corev1.Pod
		QOSReserved       map[string]string
		AllocatableMemory *int64
		CgroupVersion     int
		CgroupDriver      string
		RefuseUpdates     map[string]int
	}
	Want struct {
		Start, Update map[string]goldenCgroup
		Error         string
	}
}

func (c tierCase) node(t *testing.T) Node {
	t.Helper()
	in := c.Input
	in.CPUCFSQuota = true
	cfg := in.config(t)
	cfg.QOSReserved, cfg.CgroupDriver = in.QOSReserved, in.CgroupDriver
	capacity := corev1.ResourceList{}
	if in.AllocatableMemory != nil {
		capacity[corev1.ResourceMemory] = bytesOf(*in.AllocatableMemory)
	}
	node, findings := NewNode(cfg, allocatable.Node{Capacity: capacity, CgroupVersion: in.CgroupVersion}, in.CgroupDriver)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	node.PageSizes = in.HugePageSizes
	return node
}

// TestTiersGolden compares the steady state with what the kubelet's start and
// then its tier loop wrote, file by file.
func TestTiersGolden(t *testing.T) {
	compared := 0
	for _, c := range golden[tierCase](t, "qos-tiers.json") {
		if c.Want.Error != "" || c.Input.RefuseUpdates != nil {
			continue // what the kernel refuses is met when applying
		}
		t.Run(c.Name, func(t *testing.T) {
			tree, err := Desired(c.node(t), c.Input.Pods, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := byPath(tree)
			for tier, start := range c.Want.Start {
				compared++
				files, properties := maps.Clone(start.Files), maps.Clone(start.Properties)
				maps.Copy(files, c.Want.Update[tier].Files)
				if properties == nil {
					properties = map[string]property{}
				}
				maps.Copy(properties, c.Want.Update[tier].Properties)
				cgroup := got[start.Path]
				if tier == "kubepods" { // the golden file leaves out what enforcement sets
					maps.DeleteFunc(cgroup.Files, func(file, _ string) bool { return files[file] == "" })
					maps.DeleteFunc(cgroup.Properties, func(name, _ string) bool { return properties[name] == "" })
				}
				if diff := cmp.Diff(files, cgroup.Files, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s files (-want +got):\n%s", start.Path, diff)
				}
				gotProperties := map[string]property{}
				for name, value := range cgroup.Properties {
					gotProperties[name] = property(value)
				}
				if diff := cmp.Diff(properties, gotProperties, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s properties (-want +got):\n%s", start.Path, diff)
				}
			}
		})
	}
	if compared == 0 {
		t.Error("no tier was compared")
	}
}

func byPath(tree Tree) map[string]Cgroup {
	m := map[string]Cgroup{}
	for _, c := range tree.Cgroups {
		m[c.Path] = c
	}
	return m
}
