package cgroups

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
)

// FuzzDesired plans pods of any shape: whatever stands in them, the tree has
// each path once, within the mount, and each file a reason.
func FuzzDesired(f *testing.F) {
	for _, s := range []string{
		`{"metadata":{"uid":"a"},"spec":{"containers":[{"name":"..","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]}}`,
		`{"metadata":{"uid":"a"},"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"-1","memory":"10E","hugepages-3Ki":"1"}}}]}}`,
		`{"metadata":{"uid":"","annotations":{"kubernetes.io/config.mirror":"../.."}},"spec":{"containers":[{"name":"a"},{"name":"a"}]}}`,
		`{"status":{"qosClass":"None"},"spec":{"overhead":{"cpu":"9E"},"resources":{"limits":{"hugepages-x":"1"}},"ephemeralContainers":[{"name":"e"}]}}`,
	} {
		f.Add([]byte(s), "/")
	}
	f.Add([]byte(`{}`), "/a//../b-")
	f.Fuzz(func(t *testing.T, data []byte, root string) {
		var pod corev1.Pod
		if json.Unmarshal(data, &pod) != nil {
			return
		}
		for _, driver := range []string{Cgroupfs, Systemd} {
			for _, version := range []int{1, 2} {
				node := testNode(driver, version, func(cfg *kubelet.Config) {
					factor := 0.9
					cfg.CgroupRoot, cfg.MemoryThrottlingFactor, cfg.MemoryReservationPolicy = root, &factor, "TieredReservation"
					cfg.MemorySwap.SwapBehavior, cfg.CPUManagerPolicy = "LimitedSwap", "static"
				})
				node.Containers = true
				tree, _ := Desired(node, []*corev1.Pod{&pod, guaranteed("good", "1")}, nil)
				seen := map[string]bool{}
				for _, c := range tree.Cgroups {
					if seen[c.Path] || !strings.HasPrefix(c.Path, "/") || strings.Contains(c.Path+"/", "/../") {
						t.Errorf("%s: path %q stands twice or leaves the mount", driver, c.Path)
					}
					seen[c.Path] = true
					for file, value := range c.Files {
						if value == "" || c.Why[file] == "" {
							t.Errorf("%s %s is %q because %q", c.Path, file, value, c.Why[file])
						}
					}
				}
			}
		}
	})
}
