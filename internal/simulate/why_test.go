package simulate

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
)

// guaranteed is a pod of one Guaranteed container; more are amounts of further
// resources.
func guaranteed(name, cpu, memory string, more map[corev1.ResourceName]string) *corev1.Pod {
	list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	for resourceName, amount := range more {
		list[resourceName] = resource.MustParse(amount)
	}
	pod := &corev1.Pod{}
	pod.Name, pod.UID = name, types.UID(name)
	pod.Spec.Containers = []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{Requests: list, Limits: list}}}
	return pod
}

func TestWhy(t *testing.T) {
	t.Parallel()
	const gpu = "vendor.com/gpu"
	tests := []struct {
		name, config string
		before       []*corev1.Pod
		pod          *corev1.Pod
		want         string
	}{
		{
			"the machine is full", "topologyManagerPolicy: restricted", nil, guaranteed("p", "17", "1Gi", nil),
			"Container app: it asks for 17 CPUs, and free are 6 on node 0, 8 on node 1: 3 more would do.",
		},
		{
			"free on more nodes than needed", "topologyManagerPolicy: restricted",
			[]*corev1.Pod{guaranteed("a", "4", "1Gi", nil), guaranteed("b", "5", "1Gi", nil)},
			guaranteed("p", "4", "1Gi", nil),
			"Container app: 4 CPUs would fit fewer NUMA nodes than the 2 on which they are free now (free are 2 on node 0, 3 on node 1), and restricted admits only the fewest: 1 more free on node 1 would do.",
		},
		{
			"wider than one node", "topologyManagerPolicy: single-numa-node", nil, guaranteed("p", "10", "1Gi", nil),
			"Container app: 10 CPUs need 2 NUMA nodes even on an empty machine, and single-numa-node admits one: ask for less, or use restricted.",
		},
		{
			"CPUs and devices on different nodes", "topologyManagerPolicy: restricted",
			[]*corev1.Pod{guaranteed("a", "6", "1Gi", nil)},
			guaranteed("p", "4", "1Gi", map[corev1.ResourceName]string{gpu: "1"}),
			"Container app: 1 vendor.com/gpu would take node 0, but 4 CPUs would take node 1: no set of NUMA nodes suits all; 4 more free on node 0 would do.",
		},
		{
			"too few devices", "topologyManagerPolicy: none", nil, guaranteed("p", "1", "1Gi", map[corev1.ResourceName]string{gpu: "3"}),
			"Container app: it asks for 3 vendor.com/gpu, and free are 2 on node 0: 1 more would do.",
		},
		{
			"no whole cores", "cpuManagerPolicyOptions: {full-pcpus-only: 'true'}", nil, guaranteed("p", "3", "1Gi", nil),
			"Container app: full-pcpus-only gives whole cores, and 3 is no multiple of their 2 CPUs: ask for 2 or 4.",
		},
		{
			"too few whole cores", "cpuManagerPolicyOptions: {full-pcpus-only: 'true'}", nil, guaranteed("p", "16", "1Gi", nil),
			"Container app: full-pcpus-only leaves cores with a reserved CPU out, and on the others 14 CPUs are free of the 16 asked for: 2 more would do.",
		},
		{
			"memory", "memoryManagerPolicy: Static\nreservedMemory: [{numaNode: 0, limits: {memory: 1124Mi}}]\nsystemReserved: {memory: 1Gi}", nil, guaranteed("p", "1", "16Gi", nil),
			"Container app: it asks for 16Gi of memory, and free are 7068Mi on node 0, 8Gi on node 1: 1124Mi more would do.",
		},
		{"admitted", "topologyManagerPolicy: restricted", nil, guaranteed("p", "4", "1Gi", nil), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t, tt.config, gpu)
			for _, pod := range tt.before {
				if a := n.Add(pod); !a.Verdict.Admitted {
					t.Fatalf("%s: %s", pod.Name, a.Why)
				}
			}
			if got := n.Add(tt.pod).Why; got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// newNode has 2 NUMA nodes of 4 cores with 2 threads and 8Gi each, 2 CPUs
// reserved, and two devices on node 0.
func newNode(t *testing.T, config, device string) *Node {
	t.Helper()
	m, err := machine.Load(context.Background(), "synthetic:sockets=2,numa=2,cores=8,threads=2,memory=16Gi")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"d0", "d1"} {
		m.Devices = append(m.Devices, machine.Device{Resource: device, ID: id, NUMA: []int{0}, Healthy: true})
	}
	data := "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncpuManagerPolicy: static\nkubeReserved: {cpu: '2'}\n" + config
	c, err := kubelet.Load(kubelet.LoadOptions{File: "test", Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	n, err := NewNode(Spec{Config: c, Machine: m}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
