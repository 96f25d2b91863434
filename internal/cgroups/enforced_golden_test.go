package cgroups

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
)

type enforcedCase struct {
	Name  string
	Input struct {
		Config  json.RawMessage
		Dropins []struct {
			File   string
			Config json.RawMessage
		}
		Machine struct {
			NumCores       int
			Memory, MaxPID int64
			HugePages      map[string]int64
		}
		CgroupVersion int
	}
	Want struct {
		Error    *struct{ Stage, Error string }
		Enforced map[string]goldenCgroup
	}
}

func (c enforcedCase) config(t *testing.T) *kubelet.Config {
	t.Helper()
	o := kubelet.LoadOptions{}
	if c.Input.Config != nil {
		o = kubelet.LoadOptions{File: "kubelet.yaml", Data: c.Input.Config}
	}
	for _, d := range c.Input.Dropins {
		if o.Dir == "" {
			o.Dir = t.TempDir()
		}
		file := filepath.Join(o.Dir, d.File)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, d.Config, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := kubelet.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func (c enforcedCase) node(cfg *kubelet.Config) Node {
	m := c.Input.Machine
	capacity := testCapacity(m.NumCores, m.Memory, "2Mi", "1Gi")
	capacity[allocatable.ResourcePID] = *resource.NewQuantity(m.MaxPID, resource.DecimalSI)
	if m.HugePages != nil {
		delete(capacity, "hugepages-2Mi")
		delete(capacity, "hugepages-1Gi")
	}
	for kib, count := range m.HugePages {
		size := resource.MustParse(kib + "Ki")
		sum := size.DeepCopy()
		sum.Mul(count)
		capacity[corev1.ResourceName("hugepages-"+size.String())] = sum
	}
	node, _ := NewNode(cfg, allocatable.Node{Capacity: capacity, CPUs: firstCPUs(m.NumCores), CgroupVersion: c.Input.CgroupVersion}, cfg.CgroupDriver)
	return node
}

func firstCPUs(n int) cpuset.CPUSet {
	var ids []int
	for id := range n {
		ids = append(ids, id)
	}
	return cpuset.New(ids...)
}

// testCapacity is a node with sizes of huge pages but none preallocated.
func testCapacity(cores int, memory int64, sizes ...string) corev1.ResourceList {
	list := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(int64(cores), resource.DecimalSI),
		corev1.ResourceMemory: bytesOf(memory),
	}
	for _, size := range sizes {
		list[corev1.ResourceName("hugepages-"+size)] = bytesOf(0)
	}
	return list
}

func TestEnforcedGolden(t *testing.T) {
	answered := 0
	for _, c := range golden[enforcedCase](t, "allocatable.json") {
		unreserved := c.Want.Error != nil && strings.Contains(c.Want.Error.Error, "is not configured properly")
		if c.Want.Error != nil && !unreserved {
			continue // what refuses the start before is allocatable's affair
		}
		t.Run(c.Name, func(t *testing.T) {
			node := c.node(c.config(t))
			if _, err := enforcedGroups(node); unreserved {
				if err == nil || !strings.Contains(err.Error(), "is not configured properly") {
					t.Fatalf("got the error %v, want %s", err, c.Want.Error.Error)
				}
				return
			}
			answered++
			// The golden file holds the last write to each cgroup.
			last := map[string]Rendered{}
			for _, e := range node.Result.Enforced {
				path, err := EnforcedName(e, node.Config.PerQOS(), node.Driver).Path(node.Driver)
				if err != nil {
					t.Fatal(err)
				}
				last[path] = EnforcedSettings(e).Render(node.Platform)
			}
			for path, got := range last {
				checkRendered(t, path, c.Want.Enforced[path], got)
			}
			for path := range c.Want.Enforced {
				if _, ok := last[path]; !ok {
					t.Errorf("%s is not enforced", path)
				}
			}
		})
	}
	if answered == 0 {
		t.Error("no case was compared")
	}
}
