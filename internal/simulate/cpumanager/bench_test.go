package cpumanager

import (
	"fmt"
	"testing"

	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

const (
	cpus128 = "sockets=2,numa=2,llc=8,cores=64,threads=2"
	cpus512 = "sockets=2,numa=8,llc=32,cores=256,threads=2"
)

func BenchmarkChoose(b *testing.B) {
	options := map[string]string{"packed": "", "uncore": OptionPreferAlignByUncore, "distributed": OptionDistributeAcrossNUMA}
	for size, description := range map[int]string{128: cpus128, 512: cpus512} {
		for name, option := range options {
			var set []string
			if option != "" {
				set = append(set, option)
			}
			m := started(b, synthetic(b, description), "2", set...)
			for _, n := range []int{4, 16, 64} {
				b.Run(fmt.Sprintf("%s/%dof%d", name, n, size), func(b *testing.B) {
					free := m.available()
					for b.Loop() {
						if _, err := m.choose(free, n); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkAdmit is the CPU manager's part of one pod: hints, allocation and
// removal on 512 CPUs and 8 NUMA nodes.
func BenchmarkAdmit(b *testing.B) {
	m := started(b, synthetic(b, cpus512), "2")
	pod := newPod("p", container("c", "16"))
	c := &pod.Spec.Containers[0]
	for b.Loop() {
		hints, err := m.Hints(pod, c)
		if err != nil {
			b.Fatal(err)
		}
		if err := m.Allocate(pod, c, topologymanager.Hint{Affinity: hints["cpu"][0].Affinity}); err != nil {
			b.Fatal(err)
		}
		m.Remove(pod.UID, "c")
	}
}
