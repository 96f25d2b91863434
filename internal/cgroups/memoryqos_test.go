package cgroups

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
)

// memoryFiles lists what a tree sets of memory.min, low and high, one line a
// cgroup.
func memoryFiles(tree Tree) string {
	var lines []string
	for _, c := range tree.Cgroups {
		var set []string
		for _, file := range []string{memoryMin, memoryLow, memoryHigh} {
			if value, ok := c.Files[file]; ok {
				set = append(set, strings.TrimPrefix(file, "memory.")+"="+value)
			}
		}
		lines = append(lines, strings.TrimSpace(strings.TrimPrefix(c.Path, "/kubepods")+" "+strings.Join(set, " ")))
	}
	return strings.Join(lines, "\n")
}

// TestMemoryRules holds how kubelets of four minor versions protect and
// throttle, worked out from each one's source.
func TestMemoryRules(t *testing.T) {
	pods := func() []*corev1.Pod {
		return []*corev1.Pod{guaranteed("g", "1"), testPod("b", "", "1Mi", "", "3Mi"), testPod("e", "", "", "", "")}
	}
	const off, none, tieredPolicy = "off", "None", "TieredReservation"
	reset := "min=0 low=0\n/besteffort\n/besteffort/pode\n/besteffort/pode/app HIGH\n/burstable low=0\n/burstable/podb\n/burstable/podb/app HIGH\n/podg\n/podg/app HIGH"
	untouched := "\n/besteffort\n/besteffort/pode\n/besteffort/pode/app\n/burstable\n/burstable/podb\n/burstable/podb/app\n/podg\n/podg/app"
	all36 := "/besteffort\n/besteffort/pode\n/besteffort/pode/app min=0 low=0\n/burstable low=%s\n/burstable/podb%s\n/burstable/podb/app %s high=2097152\n/podg%s\n/podg/app %s"
	for _, tt := range []struct {
		minor  kubelet.Minor
		policy string
		want   string
	}{
		{37, off, strings.ReplaceAll(reset, "HIGH", "high=max")},
		{36, off, untouched},
		{35, off, untouched},
		{34, off, untouched},
		{36, none, "min=0\n" + fmt.Sprintf(all36, "0", "", "min=0 low=0", "", "min=0 low=0")},
		{36, tieredPolicy, "min=1074790400\n" + fmt.Sprintf(all36, "1048576", " low=1048576", "low=1048576", " min=1073741824", "min=1073741824")},
		{37, tieredPolicy, "min=1074790400 low=1048576\n" + strings.Replace(
			fmt.Sprintf(all36, "1048576", " low=1048576", "low=1048576", " min=1073741824", "min=1073741824"),
			"pode/app min=0 low=0", "pode/app min=0 low=0 high=8589934592", 1)},
		// Before memoryReservationPolicy existed the field meant nothing.
		{35, tieredPolicy, "min=1074790400\n/besteffort\n/besteffort/pode\n/besteffort/pode/app\n/burstable min=1048576\n/burstable/podb min=1048576\n" +
			"/burstable/podb/app min=1048576 high=2097152\n/podg min=1073741824\n/podg/app min=1073741824"},
	} {
		t.Run(fmt.Sprintf("%s/%s", tt.minor, tt.policy), func(t *testing.T) {
			node := testNode(Cgroupfs, 2, func(cfg *kubelet.Config) {
				factor := 0.5
				cfg.MemoryThrottlingFactor, cfg.MemoryReservationPolicy = &factor, "None"
				if tt.policy == tieredPolicy {
					cfg.MemoryReservationPolicy = tieredPolicy
				}
				gates, err := kubelet.DefaultGates(tt.minor).With(map[string]bool{kubelet.GateMemoryQoS: tt.policy != off})
				if err != nil {
					t.Fatal(err)
				}
				cfg.Gates = gates
			})
			node.Containers = true
			tree, err := Desired(node, pods(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, memoryFiles(tree)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
