package simulate

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	"k8s.io/utils/cpuset"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/qos"
)

// drawMachine has up to four NUMA nodes with two-threaded cores, huge pages
// and devices.
func drawMachine(t *rapid.T) *machine.Machine {
	nodes, cores := rapid.IntRange(1, 4).Draw(t, "nodes"), rapid.IntRange(2, 6).Draw(t, "cores")
	m := &machine.Machine{}
	for n := range nodes {
		memory := int64(rapid.IntRange(4, 16).Draw(t, "GiB")) << 30
		m.Memory += memory
		node := machine.Node{ID: n, Memory: memory, HugePages: map[string]int64{"2Mi": 512}}
		for other := range nodes {
			node.Distances = append(node.Distances, 10+min(1, max(n-other, other-n))*11)
		}
		m.NUMA = append(m.NUMA, node)
		for c := range cores {
			for thread := range 2 {
				m.CPUs = append(m.CPUs, machine.CPU{ID: thread*nodes*cores + n*cores + c, Core: c, Socket: n, NUMA: n, LLC: n, Online: true})
			}
		}
		m.Devices = append(m.Devices, machine.Device{Resource: "vendor.com/nic", ID: fmt.Sprintf("nic%d", n), NUMA: []int{n}, Healthy: true})
	}
	return m
}

func drawConfig(t *rapid.T) *kubelet.Config {
	c, err := kubelet.Load(kubelet.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.CPUManagerPolicy, c.MemoryManagerPolicy = "static", "Static"
	c.KubeReserved = map[string]string{"cpu": "1", "memory": "1Gi"}
	c.ReservedMemory = []kubeletv1beta1.MemoryReservation{{NumaNode: 0, Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1124Mi")}}}
	c.EvictionHard = map[string]string{"memory.available": "100Mi"}
	c.TopologyManagerPolicy = rapid.SampledFrom([]string{"none", "best-effort", "restricted", "single-numa-node"}).Draw(t, "policy")
	c.TopologyManagerScope = rapid.SampledFrom([]string{"container", "pod"}).Draw(t, "scope")
	return c
}

// drawPod is Guaranteed, with app containers and, where init is true, an init
// container of either kind.
func drawPod(t *rapid.T, name string, init bool) *corev1.Pod {
	container := func(label string) corev1.Container {
		limits := corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(rapid.SampledFrom([]int64{500, 1000, 2000, 3000, 5000}).Draw(t, label+" cpu"), resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(int64(rapid.IntRange(1, 9).Draw(t, label+" GiB"))<<30, resource.BinarySI),
		}
		if rapid.IntRange(0, 3).Draw(t, label+" more") == 0 {
			limits["hugepages-2Mi"] = resource.MustParse("64Mi")
			limits["vendor.com/nic"] = resource.MustParse("1")
		}
		return corev1.Container{Name: label, Resources: corev1.ResourceRequirements{Limits: limits, Requests: maps.Clone(limits)}}
	}
	pod := &corev1.Pod{}
	pod.Name, pod.UID = name, types.UID(name)
	for i := range rapid.IntRange(1, 2).Draw(t, "containers") {
		pod.Spec.Containers = append(pod.Spec.Containers, container(fmt.Sprintf("c%d", i)))
	}
	if init {
		c := container("i")
		if rapid.Bool().Draw(t, "sidecar") {
			c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		pod.Spec.InitContainers = []corev1.Container{c}
	}
	return pod
}

func drawNode(t *rapid.T) *Node {
	n, err := NewNode(Spec{Config: drawConfig(t), Machine: drawMachine(t)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// totals sums what the nodes have left of each type: within a group the single
// numbers drift.
func totals(n *Node) map[corev1.ResourceName]uint64 {
	sums := map[corev1.ResourceName]uint64{}
	for _, node := range n.memory.Nodes() {
		for typ, table := range node.MemoryMap {
			sums[typ] += table.Free
		}
	}
	return sums
}

// holdsTogether checks what must be true of a node at any time.
func holdsTogether(t *rapid.T, n *Node) {
	reserved := map[corev1.ResourceName]uint64{}
	for id, node := range n.memory.Nodes() {
		for typ, table := range node.MemoryMap {
			if table.Free+table.Reserved != table.Allocatable || table.Allocatable+table.SystemReserved > table.TotalMemSize {
				t.Fatalf("node %d %s: %+v does not add up", id, typ, *table)
			}
			reserved[typ] += table.Reserved
		}
	}
	state := n.memory.State()
	held := map[corev1.ResourceName]uint64{}
	for _, containers := range state.Entries {
		for _, blocks := range containers {
			for _, b := range blocks {
				held[b.Type] += b.Size
			}
		}
	}
	for typ := range reserved {
		if held[typ] != reserved[typ] {
			t.Fatalf("%s: containers hold %d, nodes have %d reserved", typ, held[typ], reserved[typ])
		}
	}
	all := n.cpus.Shared()
	for uid, containers := range n.cpus.State().Entries {
		own := cpuset.New()
		for _, cpus := range containers {
			own = own.Union(cpus)
		}
		if both := all.Intersection(own); !both.IsEmpty() {
			t.Fatalf("CPUs %s of pod %s have another owner", both, uid)
		}
		all = all.Union(own)
	}
	if !all.Equals(n.spec.Machine.Online()) {
		t.Fatalf("owned and shared CPUs are %s, the machine has %s", all, n.spec.Machine.Online())
	}
}

// Memory and CPUs are conserved through any life.
func TestNothingIsLostOrDoubled(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := drawNode(t)
		for i := range rapid.IntRange(1, 8).Draw(t, "events") {
			if len(n.active) > 0 && rapid.IntRange(0, 2).Draw(t, "op") == 0 {
				n.Remove(rapid.SampledFrom(n.active).Draw(t, "pod").UID)
			} else {
				n.Add(drawPod(t, fmt.Sprintf("p%d", i), rapid.Bool().Draw(t, "init")))
			}
			holdsTogether(t, n)
		}
	})
}

// Removing a pod leaves the node as it was before the pod came.
func TestRemoveUndoesAdd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := drawNode(t)
		for i := range rapid.IntRange(0, 4).Draw(t, "before") {
			n.Add(drawPod(t, fmt.Sprintf("p%d", i), false))
		}
		cpus, memory, devices := n.cpus.State(), totals(n), n.devices.Free()
		n.Add(drawPod(t, "guest", rapid.Bool().Draw(t, "init")))
		n.Remove("guest")
		if diff := cmp.Diff(cpus.Default.String(), n.cpus.Shared().String()); diff != "" {
			t.Fatalf("shared CPUs (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(memory, totals(n)); diff != "" {
			t.Fatalf("free memory (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(devices, n.devices.Free()); diff != "" {
			t.Fatalf("free devices (-before +after):\n%s", diff)
		}
	})
}

// mixesGroups tells whether a node has a block of another group than its last.
// The kubelet allows that where the merged hint is narrower than a group, and
// then may not start again on its own state.
func mixesGroups(n *Node) bool {
	for _, containers := range n.memory.State().Entries {
		for _, blocks := range containers {
			for _, b := range blocks {
				for _, id := range b.NUMAAffinity {
					if !slices.Equal(n.memory.Nodes()[id].Cells, b.NUMAAffinity) {
						return true
					}
				}
			}
		}
	}
	return false
}

// A restart on the files that the kubelet wrote changes nothing. Ordinary init
// containers are left out: the kubelet gives them memory again.
func TestRestartChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := drawNode(t)
		for i := range rapid.IntRange(1, 5).Draw(t, "pods") {
			n.Add(drawPod(t, fmt.Sprintf("p%d", i), false))
		}
		state, files, active, mixed := n.State(), n.Files(), len(n.active), mixesGroups(n)
		again, err := n.Restart(n.spec, nil, rapid.Bool().Draw(t, "plugins first"))
		if err != nil {
			if !mixed {
				t.Fatal(err)
			}
			return
		}
		for _, a := range again {
			if !a.Verdict.Admitted {
				t.Fatalf("pod %s: %s", a.Pod.Name, a.Verdict.Message)
			}
		}
		if diff := cmp.Diff(state, n.State()); diff != "" || len(again) != active {
			t.Fatalf("%d of %d pods; state (-before +after):\n%s", len(again), active, diff)
		}
		if diff := cmp.Diff(files, n.Files()); diff != "" {
			t.Fatalf("files (-before +after):\n%s", diff)
		}
	})
}

// A preferred hint is never wider than another hint of its list.
func TestPreferredHintsAreNarrow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := drawNode(t)
		for i := range rapid.IntRange(0, 4).Draw(t, "before") {
			n.Add(drawPod(t, fmt.Sprintf("p%d", i), false))
		}
		pod := drawPod(t, "guest", rapid.Bool().Draw(t, "init"))
		for _, p := range n.topology.Providers {
			for c := range qos.Containers(pod) {
				hints, err := p.Hints(pod, c)
				if err != nil {
					t.Fatal(err)
				}
				for name, list := range hints {
					for _, wide := range list {
						for _, other := range list {
							if wide.Preferred && other.Affinity.Count() < wide.Affinity.Count() {
								t.Fatalf("%s: %v is preferred beside %v", name, wide, other)
							}
						}
					}
				}
			}
		}
	})
}
