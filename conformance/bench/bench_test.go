// Package bench measures kqos and the kubelet's own code side by side:
//
//	go test -run '^$' -bench . ./bench | tee new.txt && benchstat -col /side new.txt
package bench

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	v1qos "k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/oracle/cpu"
	"github.com/kqos/kqos/conformance/oracle/gates"
	"github.com/kqos/kqos/conformance/oracle/node"
	"github.com/kqos/kqos/conformance/oracle/placement"
	"github.com/kqos/kqos/conformance/oracle/pod"
	"github.com/kqos/kqos/conformance/oracle/start"
	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/qos"
	"github.com/kqos/kqos/internal/simulate"
	"github.com/kqos/kqos/internal/simulate/cpumanager"
)

// sides runs one benchmark for each side; the names are those of a benchstat
// column.
func sides(b *testing.B, name string, theirs, ours func()) {
	b.Helper()
	check.Quiet()
	for side, run := range map[string]func(){"kubelet": theirs, "kqos": ours} {
		b.Run(name+"/side="+side, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
}

func load(b *testing.B, description string) *machine.Machine {
	b.Helper()
	m, err := machine.Load(context.Background(), "synthetic:"+description)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// fiveContainers is a Burstable pod.
func fiveContainers() *corev1.Pod {
	p := &corev1.Pod{}
	for i := range 5 {
		list := corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi")}
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{
			Name: fmt.Sprintf("c%d", i), Resources: corev1.ResourceRequirements{Requests: list},
		})
	}
	return p
}

// BenchmarkClassify is class and OOM scores of a pod of five containers.
func BenchmarkClassify(b *testing.B) {
	if err := gates.Set(nil); err != nil {
		b.Fatal(err)
	}
	p, g := fiveContainers(), kubelet.DefaultGates(kubelet.Latest)
	sides(b, "class",
		func() { v1qos.ComputePodQOS(p) },
		func() { qos.ComputeClass(p, g) })
	sides(b, "all",
		func() { pod.QOS(p, 64<<30, false) },
		func() {
			qos.Class(p, g)
			qos.ComputeClass(p, g)
			qos.Requests(p, g)
			qos.Limits(p, g)
			for i := range p.Spec.Containers {
				qos.OOMScoreAdj(p, &p.Spec.Containers[i], 64<<30, g)
			}
		})
}

// BenchmarkCgroup is what a pod's cgroup is set to.
func BenchmarkCgroup(b *testing.B) {
	if err := gates.Set(nil); err != nil {
		b.Fatal(err)
	}
	cfg, err := kubelet.Load(kubelet.LoadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	p := fiveContainers()
	o := pod.CgroupOptions{CPUCFSQuota: true, CPUCFSQuotaPeriod: cfg.CPUCFSQuotaPeriod.Duration, MemoryReservationPolicy: "None"}
	sides(b, "pod", func() { pod.Cgroup(p, o) }, func() { cgroups.PodSettings(p, cfg, false) })
}

// BenchmarkHints is what the CPU manager hints for a container of 4 CPUs.
func BenchmarkHints(b *testing.B) {
	if err := gates.Set(nil); err != nil {
		b.Fatal(err)
	}
	list := corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("4Gi")}
	p := &corev1.Pod{}
	p.UID = "p"
	p.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: list, Limits: list}}}
	for _, size := range []string{"sockets=2,numa=2,llc=8,cores=64,threads=2", "sockets=2,numa=8,llc=32,cores=256,threads=2"} {
		m := load(b, size+",memory=512Gi")
		theirs, err := cpu.New(cpu.Life{Machine: m, Reserved: 2}, cpu.State{})
		if err != nil {
			b.Fatal(err)
		}
		ours, err := cpumanager.New(m, cpumanager.Config{Policy: kubelet.CPUPolicyStatic, Reservation: resource.NewQuantity(2, resource.DecimalSI)})
		if err == nil {
			err = ours.Start(cpumanager.State{})
		}
		if err != nil {
			b.Fatal(err)
		}
		sides(b, fmt.Sprintf("cpu/%dcpus", len(m.CPUs)), func() {
			if _, err := theirs.Hints(p, &p.Spec.Containers[0]); err != nil {
				b.Fatal(err)
			}
		}, func() {
			if _, err := ours.Hints(p, &p.Spec.Containers[0]); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkAllocatable is loading a configuration and computing what it leaves
// to pods.
func BenchmarkAllocatable(b *testing.B) {
	m := load(b, "sockets=2,numa=2,cores=64,threads=2,memory=512Gi")
	dir := b.TempDir()
	file, err := start.Write(dir, "kubelet.yaml", []byte(`{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration",
		"kubeReserved":{"cpu":"1","memory":"1Gi"},"systemReserved":{"cpu":"1","memory":"1Gi"},"evictionHard":{"memory.available":"5%"}}`))
	if err != nil {
		b.Fatal(err)
	}
	host := node.Host{CgroupVersion: 2, MaxPID: 4194304, EphemeralStorage: 100 << 30}
	sides(b, "512Gi", func() {
		if a, err := node.Start(file, m, host, dir); err != nil || a.Error != "" {
			b.Fatal(err, a.Error)
		}
	}, func() {
		c, err := kubelet.Load(kubelet.LoadOptions{File: file})
		if err != nil {
			b.Fatal(err)
		}
		if _, findings := allocatable.Compute(c, allocatable.NewNode(m, nil, 2)); len(findings) > 0 {
			b.Fatal(findings)
		}
	})
}

// BenchmarkAdmit starts the managers and admits sixteen pods of four CPUs each,
// with all managers aligned. The kubelet's side writes its checkpoint files.
func BenchmarkAdmit(b *testing.B) {
	dir := b.TempDir()
	for _, size := range []string{"sockets=2,numa=2,llc=8,cores=64,threads=2", "sockets=2,numa=8,llc=32,cores=256,threads=2"} {
		m := load(b, size+",memory=512Gi")
		s := &simulate.Scenario{Name: "bench", Machine: &simulate.Hardware{Machine: m}, Kubelet: []byte(`{"cpuManagerPolicy":"static",
			"kubeReserved":{"cpu":"2","memory":"924Mi"},"memoryManagerPolicy":"Static","reservedMemory":[{"numaNode":0,"limits":{"memory":"1Gi"}}],
			"topologyManagerPolicy":"restricted"}`)}
		for i := range 16 {
			list := corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("4Gi")}
			p := &corev1.Pod{}
			p.Name = fmt.Sprintf("p%d", i)
			p.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: list, Limits: list}}}
			s.Events = append(s.Events, simulate.Event{Op: simulate.OpAdd, Pod: p, PodName: p.Name})
		}
		sides(b, fmt.Sprintf("%dcpus", len(m.CPUs)), func() {
			state, remove := check.Dir(b, dir)
			defer remove()
			r := placement.Run(check.Scenario(s), state)
			if r.StartError != nil {
				b.Fatal(r.StartError.Message)
			}
			for _, e := range r.Events {
				if !*e.Admitted {
					b.Fatal(e.Message)
				}
			}
		}, func() {
			if r := simulate.Run(s, simulate.Options{}); r.Refused() {
				b.Fatal(r.Events[0].Message, r.StartError)
			}
		})
	}
}
