// Package node compares what kqos says of a node with the kubelet's container
// manager.
package node

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/gen"
	"github.com/kqos/kqos/conformance/older"
	"github.com/kqos/kqos/conformance/oracle/node"
	"github.com/kqos/kqos/conformance/oracle/pod"
	"github.com/kqos/kqos/conformance/oracle/start"
	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate"
)

type input struct {
	Config  gen.Document     `json:"config"`
	Machine *machine.Machine `json:"machine"`
	Host    node.Host        `json:"host"`
}

// loaded reads the configuration of a file that both sides take. Loading and
// validation have their own suite: what is refused there, or of a wrong type, is
// not used here.
func loaded(t *rapid.T, in input, dir string) (file string, ours *kubelet.Config) {
	file, err := start.Write(dir, "kubelet.yaml", in.Config.JSON())
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := start.Judge(start.Options{File: file}, in.Host.CgroupVersion)
	if err != nil {
		t.Fatal(err)
	}
	if theirs.Error != "" || len(theirs.Findings) > 0 {
		return "", nil
	}
	ours, err = kubelet.Load(kubelet.LoadOptions{File: file, Minor: check.Minor(t)})
	if err != nil {
		t.Fatal(err)
	}
	return file, ours
}

func TestAllocatable(t *testing.T) {
	dir := t.TempDir()
	check.Property(t, 2000, func(t *rapid.T) {
		in := input{
			Config:  gen.NodeConfig(6).Draw(t, "config"),
			Machine: gen.Machine().Draw(t, "machine"),
			Host: node.Host{
				CgroupVersion:    rapid.SampledFrom([]int{2, 2, 2, 1}).Draw(t, "cgroup version"),
				MaxPID:           rapid.SampledFrom([]int64{4194304, 32768, 1000}).Draw(t, "pid"),
				EphemeralStorage: rapid.SampledFrom([]int64{100 << 30, 1 << 30, 12345}).Draw(t, "storage"),
			},
		}
		if _, ok := in.Config["failCgroupV1"]; !ok {
			in.Config["failCgroupV1"] = false
		}
		if rapid.IntRange(0, 5).Draw(t, "enforce") == 0 {
			enforce(t, in.Config)
		}
		file, ours := loaded(t, in, dir)
		if ours == nil {
			return
		}
		state, remove := check.Dir(t, dir)
		defer remove()
		want, err := node.Start(file, in.Machine, in.Host, state)
		if err != nil {
			t.Fatal(err)
		}
		got, findings := kqos(ours, in)
		if want.Error != "" {
			if !told(want.Error, findings) {
				check.Equal(t, in, map[string]string{want.Stage: want.Error}, findings)
			}
			return
		}
		if len(findings) > 0 {
			check.Equal(t, in, nil, findings)
		}
		want.Reservation, want.QOSReserved = nil, nil
		// A threshold on a resource that the node does not have keeps nothing of it.
		maps.DeleteFunc(want.EvictionReservation, func(name string, _ int64) bool {
			_, known := want.Capacity[name]
			return !known
		})
		check.Equal(t, in, want, got)
	})
}

// enforce asks for limits on reserved cgroups; something is mostly reserved.
func enforce(t *rapid.T, doc gen.Document) {
	words := []string{"pods", "system-reserved", "kube-reserved", "system-reserved-compressible", "kube-reserved-compressible"}
	doc["enforceNodeAllocatable"] = rapid.SliceOfNDistinct(rapid.SampledFrom(words), 1, 4, rapid.ID).Draw(t, "words")
	doc["systemReservedCgroup"] = rapid.SampledFrom([]string{"/system.slice", "/a/system", "/system"}).Draw(t, "system cgroup")
	doc["kubeReservedCgroup"] = rapid.SampledFrom([]string{"/kube.slice", "/podruntime/kubelet", "/kube"}).Draw(t, "kube cgroup")
	for _, field := range []string{"systemReserved", "kubeReserved"} {
		if rapid.IntRange(0, 3).Draw(t, field) > 0 {
			doc[field] = rapid.SampledFrom([]map[string]string{
				{"cpu": "500m", "memory": "1Gi"}, {"memory": "100Mi", "pid": "1000"}, {"cpu": "1"}, {"ephemeral-storage": "1Gi"}, {"hugepages-2Mi": "4Mi", "cpu": "0"},
			}).Draw(t, "reserved")
		}
	}
}

// told tells whether the kubelet's error is among the findings: kqos tells all,
// the kubelet the first. Where the kubelet prints the address of a quantity,
// kqos prints the amount; before 1.37 it printed other fields of one.
func told(text string, findings []kubelet.Finding) bool {
	masked := strings.Contains(text, "0x") || older.Asked()
	return slices.ContainsFunc(findings, func(f kubelet.Finding) bool {
		return steady(f.Message, masked) == steady(text, masked)
	})
}

// steady is an error without the order of a map, and without quantities where
// asked for.
func steady(text string, masked bool) string {
	if masked {
		text = regexp.MustCompile(`reservation of .*? but capacity of .*?\. Expected`).ReplaceAllString(text, "reservation of X but capacity of Y. Expected")
	}
	parts := strings.Split(text, " Resource ")
	slices.Sort(parts[1:])
	return strings.Join(parts, " Resource ")
}

func kqos(c *kubelet.Config, in input) (node.Answer, []kubelet.Finding) {
	n := allocatable.NewNode(in.Machine, corev1.ResourceList{
		"pid":               *resource.NewQuantity(in.Host.MaxPID, resource.DecimalSI),
		"ephemeral-storage": *resource.NewQuantity(in.Host.EphemeralStorage, resource.DecimalSI),
	}, in.Host.CgroupVersion)
	findings := append(allocatable.CheckOn(c, n), simulate.CheckPolicies(c, in.Machine)...)
	r, _ := allocatable.Compute(c, n)
	findings = append(findings, cgroups.UnreservedFindings(r.Enforced, c.CgroupDriver)...)
	a := node.Answer{
		ReservedCPUs: r.Reservations.CPUs.String(), EvictionReservation: pod.Amounts(r.Eviction),
		Capacity: pod.Amounts(r.Capacity), Allocatable: pod.Amounts(r.Allocatable), Absolute: pod.Amounts(r.Absolute),
		Enforced: map[string]pod.Resources{},
	}
	for _, list := range []map[string]int64{a.Capacity, a.Allocatable, a.Absolute} {
		delete(list, "pid")
	}
	for _, e := range r.Enforced {
		name := cgroups.EnforcedName(e, *c.CgroupsPerQOS, c.CgroupDriver)
		path, err := name.Path(c.CgroupDriver)
		if err != nil {
			path = strings.Join(name, "/")
		}
		a.Enforced[path] = check.Resources(cgroups.EnforcedSettings(e))
	}
	return a, findings
}
