package cgroups

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/cpuset"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
)

// testNode has 8 CPUs, 16Gi and both usual page sizes.
func testNode(driver string, version int, change func(*kubelet.Config)) Node {
	cfg, err := kubelet.Load(kubelet.LoadOptions{})
	if err != nil {
		panic(err)
	}
	if change != nil {
		change(cfg)
	}
	capacity := testCapacity(8, 16<<30, "2Mi", "1Gi")
	capacity[allocatable.ResourcePID] = resource.MustParse("4194304")
	capacity[allocatable.ResourceSwap] = bytesOf(8 << 30)
	node, _ := NewNode(cfg, allocatable.Node{Capacity: capacity, CPUs: firstCPUs(8), CgroupVersion: version}, driver)
	return node
}

// testPod has one container; empty amounts are left out.
func testPod(uid, cpu, memory, cpuLimit, memoryLimit string) *corev1.Pod {
	list := func(cpu, memory string) corev1.ResourceList {
		l := corev1.ResourceList{}
		if cpu != "" {
			l[corev1.ResourceCPU] = resource.MustParse(cpu)
		}
		if memory != "" {
			l[corev1.ResourceMemory] = resource.MustParse(memory)
		}
		return l
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p-" + uid, UID: types.UID(uid)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name:      "app",
			Resources: corev1.ResourceRequirements{Requests: list(cpu, memory), Limits: list(cpuLimit, memoryLimit)},
		}}},
	}
}

func guaranteed(uid, cpu string) *corev1.Pod { return testPod(uid, cpu, "1Gi", cpu, "1Gi") }

func TestDesired(t *testing.T) {
	ended := testPod("e", "4", "1Gi", "", "")
	ended.Status.Phase = corev1.PodSucceeded
	deleted := testPod("d", "4", "1Gi", "", "")
	deleted.DeletionTimestamp = &metav1.Time{}
	mirror := guaranteed("seen-by-the-api", "1")
	mirror.Annotations = map[string]string{kubelet.MirrorAnnotation: "5e1f"}
	pods := []*corev1.Pod{guaranteed("a", "2"), testPod("b", "500m", "", "", ""), testPod("c", "", "", "", ""), ended, deleted, mirror}
	for driver, want := range map[string][]string{
		Cgroupfs: {
			"/kubepods", "/kubepods/besteffort", "/kubepods/besteffort/podc", "/kubepods/burstable",
			"/kubepods/burstable/podb", "/kubepods/pod5e1f", "/kubepods/poda",
		},
		Systemd: {
			"/kubepods.slice",
			"/kubepods.slice/kubepods-besteffort.slice", "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podc.slice",
			"/kubepods.slice/kubepods-burstable.slice", "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podb.slice",
			"/kubepods.slice/kubepods-pod5e1f.slice", "/kubepods.slice/kubepods-poda.slice",
		},
	} {
		tree, err := Desired(testNode(driver, 2, nil), pods, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range tree.Cgroups {
			got = append(got, c.Path)
			for file := range c.Files {
				if c.Why[file] == "" {
					t.Errorf("%s %s has no reason", c.Path, file)
				}
			}
			if (c.Unit != "") != (driver == Systemd) {
				t.Errorf("%s has the unit %q", c.Path, c.Unit)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", driver, diff)
		}
		if burstable := tree.Cgroups[3]; burstable.Files["cpu.weight"] != "20" {
			t.Errorf("weight of burstable %s, want that of 500m: ended and deleted pods do not count", burstable.Files["cpu.weight"])
		}
	}
}

func TestDesiredWithholdsSumsOverUnknownPods(t *testing.T) {
	tieredReserved := func(cfg *kubelet.Config) {
		cfg.MemoryReservationPolicy = "TieredReservation"
		cfg.QOSReserved = map[string]string{"memory": "50%"}
		cfg.Gates, _ = cfg.Gates.With(map[string]bool{gateQOSReserved: true})
	}
	for _, pods := range [][]*corev1.Pod{nil, {testPod("b", "500m", "1Gi", "", "")}} {
		node := testNode(Systemd, 2, tieredReserved)
		node.Incomplete = "one manifest is no list of the node's pods"
		tree, err := Desired(node, pods, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]string{}
		for path, c := range byPath(tree) {
			for _, file := range slices.Sorted(maps.Keys(c.Unknown)) {
				got[path] = append(got[path], file)
				if c.Files[file] != "" {
					t.Errorf("%s %s is unknown and yet planned as %s", path, file, c.Files[file])
				}
			}
		}
		burstable := byPath(tree)["/kubepods.slice/kubepods-burstable.slice"]
		for _, name := range []string{"CPUWeight", "MemoryMax", "MemoryLow"} {
			if value, ok := burstable.Properties[name]; ok {
				t.Errorf("property %s=%s of an unknown value", name, value)
			}
		}
		want := map[string][]string{
			"/kubepods.slice":                           {"memory.low", "memory.min"},
			"/kubepods.slice/kubepods-burstable.slice":  {"cpu.weight", "memory.low", "memory.max"},
			"/kubepods.slice/kubepods-besteffort.slice": {"memory.max"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d pods, unknown (-want +got):\n%s", len(pods), diff)
		}
	}
}

// TestDesiredRefuses gives each bad input beside a good pod, which must be
// planned all the same.
func TestDesiredRefuses(t *testing.T) {
	long := strings.Repeat("x", 4096)
	for name, tt := range map[string]struct {
		pod    *corev1.Pod
		change func(*kubelet.Config)
		want   string
	}{
		"slash in UID":      {pod: guaranteed("a/../../x", "1"), want: `invalid character in component ["poda/../../x"] of CgroupName`},
		"underscore in UID": {pod: guaranteed("a_b", "1"), want: "invalid character"},
		"newline in UID":    {pod: guaranteed("a\nb", "1"), want: "newline"},
		"4 kB of UID":       {pod: guaranteed(long, "1"), want: "longer than"},
		"same UID":          {pod: guaranteed("good", "2"), want: "is that of pod default/p-good already"},
		"root above the mount": {
			pod: guaranteed("x", "1"), want: `".." would leave the cgroup mount`,
			change: func(cfg *kubelet.Config) { cfg.SystemReservedCgroup = "/../etc" },
		},
		"nothing reserved": {
			pod: guaranteed("good2", "1"), want: "cgroup is not configured properly",
			change: func(cfg *kubelet.Config) { cfg.SystemReserved = nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			node := testNode(Cgroupfs, 2, func(cfg *kubelet.Config) {
				cfg.EnforceNodeAllocatable = []string{"pods", "system-reserved"}
				cfg.SystemReserved, cfg.SystemReservedCgroup = map[string]string{"cpu": "1"}, "/system"
				if tt.change != nil {
					tt.change(cfg)
				}
			})
			tree, err := Desired(node, []*corev1.Pod{guaranteed("good", "1"), tt.pod}, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if _, ok := byPath(tree)["/kubepods/podgood"]; !ok {
				t.Error("the good pod is not planned")
			}
			for _, c := range tree.Cgroups {
				if strings.Contains(c.Path, "..") {
					t.Errorf("%s leaves the mount", c.Path)
				}
			}
		})
	}
}

// Names of containers that are no folder names cost the container its cgroup and
// nothing else.
func TestDesiredRefusesContainer(t *testing.T) {
	for name, want := range map[string]string{
		"a/b": "invalid character", "a_b": "invalid character", "..": "is that of", ".": "is that of",
		"a\nb": "newline", "a\x00b": "zero byte", strings.Repeat("x", 4096): "longer than",
	} {
		pod := guaranteed("good", "1")
		pod.Spec.Containers = append(pod.Spec.Containers, *pod.Spec.Containers[0].DeepCopy())
		pod.Spec.Containers[1].Name = name
		for _, driver := range []string{Cgroupfs, Systemd} {
			node := testNode(driver, 2, func(*kubelet.Config) {})
			node.Containers = true
			tree, err := Desired(node, []*corev1.Pod{pod}, nil)
			// A slice's name takes dots, as systemd does.
			if strings.Trim(name, ".") == "" && driver == Systemd {
				if err != nil {
					t.Errorf("%s: container %.20q: %v", driver, name, err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: container %.20q: %v, want %q", driver, name, err, want)
			}
			if n := len(tree.Cgroups); n != 5 {
				t.Errorf("%s: container %.20q: %d cgroups planned, want kubepods, two classes, the pod and its good container", driver, name, n)
			}
		}
	}
}

func TestDesiredRefusesRoot(t *testing.T) {
	for root, want := range map[string]string{
		"/../x":  `cgroupRoot "/../x": cgroup "/../x/kubepods": ".." would leave the cgroup mount`,
		"/kube/": `cgroupRoot "/kube/": error converting cgroup name [[kube  kubepods]] to systemd format: invalid slice name: kube--kubepods.slice`,
	} {
		driver := Cgroupfs
		if root == "/kube/" {
			driver = Systemd
		}
		node := testNode(driver, 2, func(cfg *kubelet.Config) { cfg.CgroupRoot = root })
		tree, err := Desired(node, []*corev1.Pod{guaranteed("a", "1")}, nil)
		if err == nil || err.Error() != want || len(tree.Cgroups) > 0 {
			t.Errorf("%d cgroups and the error %v, want none and %s", len(tree.Cgroups), err, want)
		}
	}
}

// TestDesiredWithoutClasses has cgroupsPerQOS off: nothing but the limits of a
// cgroupRoot that is not the root itself.
func TestDesiredWithoutClasses(t *testing.T) {
	for root, want := range map[string][]string{"/": nil, "/kube": {"/kube"}} {
		node := testNode(Cgroupfs, 2, func(cfg *kubelet.Config) {
			off := false
			cfg.CgroupRoot, cfg.CgroupsPerQOS, cfg.EnforceNodeAllocatable = root, &off, []string{"none"}
		})
		tree, err := Desired(node, []*corev1.Pod{guaranteed("a", "1")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range tree.Cgroups {
			got = append(got, c.Path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("cgroupRoot %s (-want +got):\n%s", root, diff)
		}
	}
}

func TestDesiredContainers(t *testing.T) {
	pod := guaranteed("a", "2")
	always := corev1.ContainerRestartPolicyAlways
	pod.Spec.InitContainers = []corev1.Container{{Name: "init"}, {Name: "side", RestartPolicy: &always}}
	placement := Placement{"a": {"app": {CPUs: cpuset.New(2, 3), Mems: cpuset.New(0), Exclusive: true}, "side": {CPUs: cpuset.New(0, 1)}}}
	node := testNode(Cgroupfs, 2, func(cfg *kubelet.Config) { cfg.CPUManagerPolicy = "static" })
	node.Containers = true
	tree, err := Desired(node, []*corev1.Pod{pod}, placement)
	if err != nil {
		t.Fatal(err)
	}
	got := byPath(tree)
	for path, want := range map[string]map[string]string{
		"/kubepods/burstable/poda":      {"cpu.max": "", "cpuset.cpus": ""}, // no limits of the init containers
		"/kubepods/burstable/poda/app":  {"cpu.max": "max 100000", "cpuset.cpus": "2-3", "cpuset.mems": "0", "cpu.weight": "174"},
		"/kubepods/burstable/poda/side": {"cpu.max": "max 100000", "cpuset.cpus": "0-1", "cpuset.mems": "", "memory.oom.group": "1"},
	} {
		for file, value := range want {
			if got[path].Files[file] != value {
				t.Errorf("%s %s is %q, want %q", path, file, got[path].Files[file], value)
			}
		}
	}
	if _, ok := got["/kubepods/burstable/poda/init"]; ok {
		t.Error("an init container that ends has a cgroup in the steady state")
	}
	if score := got["/kubepods/burstable/poda/app"].OOMScoreAdj; score == nil || *score != 938 {
		t.Errorf("oom_score_adj %v, want 938", score)
	}
}

// TestDesiredTree holds what every tree must be, over pods and nodes at random.
func TestDesiredTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node := testNode(rapid.SampledFrom([]string{Cgroupfs, Systemd}).Draw(t, "driver"), rapid.IntRange(1, 2).Draw(t, "version"), func(cfg *kubelet.Config) {
			cfg.CgroupRoot = rapid.SampledFrom([]string{"/", "/kube", "/a-b/c"}).Draw(t, "root")
			cfg.EnforceNodeAllocatable = rapid.SampledFrom([][]string{{"pods"}, {"none"}, {"pods", "kube-reserved"}, {"pods", "kube-reserved-compressible", "system-reserved"}}).Draw(t, "enforce")
			cfg.KubeReservedCgroup, cfg.SystemReservedCgroup = "/kube", rapid.SampledFrom([]string{"/kube", "/system"}).Draw(t, "system")
			cfg.KubeReserved, cfg.SystemReserved = map[string]string{"cpu": "500m"}, map[string]string{"memory": "1Gi"}
		})
		node.Containers = rapid.Bool().Draw(t, "containers")
		var pods []*corev1.Pod
		amounts := rapid.SampledFrom([]string{"", "1", "250m"})
		for i := range rapid.IntRange(0, 8).Draw(t, "pods") {
			pods = append(pods, testPod(fmt.Sprintf("u-%d", i), amounts.Draw(t, "cpu"), "", amounts.Draw(t, "limit"), ""))
		}
		tree, err := Desired(node, pods, nil)
		if err != nil {
			t.Fatal(err)
		}
		place := map[string]int{}
		for i, c := range tree.Cgroups {
			if _, twice := place[c.Path]; twice {
				t.Errorf("%s stands in the tree twice", c.Path)
			}
			place[c.Path] = i
			parent := c.Path[:strings.LastIndex(c.Path, "/")]
			if c.Level != LevelNode && c.Level != LevelReserved {
				if at, ok := place[parent]; !ok || at >= i {
					t.Errorf("%s stands before its parent", c.Path)
				}
			}
		}
		live := LiveTree{}
		if changes := Diff(tree, live); len(changes) == 0 {
			t.Error("nothing differs from an empty host")
		} else {
			carryOut(live, changes)
		}
		if changes := Diff(tree, live); len(changes) > 0 {
			t.Errorf("carried out, and still differs: %v", changes)
		}
	})
}

// carryOut does to a live tree what changes say.
func carryOut(live LiveTree, changes []Change) {
	for _, c := range changes {
		if c.Op == OpCreate {
			live[c.Path] = Live{Exists: true, Files: map[string]string{}}
			continue
		}
		live[c.Path].Files[c.File] = c.To
	}
}

func benchmarkPods(n int) []*corev1.Pod {
	pods := make([]*corev1.Pod, 0, n)
	for i := range n {
		pod := testPod(fmt.Sprintf("%08d-0000-4000-8000-000000000000", i), "250m", "256Mi", "1", "")
		pod.Spec.Containers = append(pod.Spec.Containers, *pod.Spec.Containers[0].DeepCopy())
		pod.Spec.Containers[1].Name = "side"
		pods = append(pods, pod)
	}
	return pods
}

func BenchmarkDesired(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("%d-pods", n), func(b *testing.B) {
			node, pods := testNode(Systemd, 2, nil), benchmarkPods(n)
			for b.Loop() {
				if _, err := Desired(node, pods, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDiff(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("%d-pods", n), func(b *testing.B) {
			tree, err := Desired(testNode(Systemd, 2, nil), benchmarkPods(n), nil)
			if err != nil {
				b.Fatal(err)
			}
			live := LiveTree{}
			carryOut(live, Diff(tree, live))
			for b.Loop() {
				if changes := Diff(tree, live); len(changes) > 0 {
					b.Fatal(changes)
				}
			}
		})
	}
}
