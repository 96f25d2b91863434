package cpumanager

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/oracle/cpu"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/simulate/cpumanager"
)

func draw(t *rapid.T) cpu.Life {
	in := cpu.Life{
		Machine:        machines().Draw(t, "machine"),
		Options:        map[string]string{},
		FeatureGates:   map[string]bool{"CPUManagerPolicyAlphaOptions": true},
		TopologyPolicy: rapid.SampledFrom([]string{"none", "none", "none", "single-numa-node"}).Draw(t, "topology policy"),
	}
	podLevel(t, &in, "pod-level managers")
	total := in.Machine.Online().Size()
	in.Reserved = rapid.IntRange(1, min(4, total)).Draw(t, "reserved")
	set := rapid.SampledFrom([][]string{
		nil,
		{cpumanager.OptionFullPCPUsOnly}, {cpumanager.OptionPreferAlignByUncore}, {cpumanager.OptionDistributeAcrossCores},
		{cpumanager.OptionDistributeAcrossNUMA}, {cpumanager.OptionDistributeAcrossNUMA, cpumanager.OptionFullPCPUsOnly},
		{cpumanager.OptionPreferAlignByUncore, cpumanager.OptionFullPCPUsOnly},
	}).Draw(t, "options")
	for _, name := range set {
		in.Options[name] = "true"
	}
	for _, name := range []string{cpumanager.OptionAlignBySocket, cpumanager.OptionStrictReservation} {
		if rapid.IntRange(0, 2).Draw(t, name) == 0 {
			in.Options[name] = "true"
		}
	}
	for i := range rapid.IntRange(1, 14).Draw(t, "steps") {
		in.Steps = append(in.Steps, drawStep(t, i, total))
	}
	return in
}

// podLevel draws the gate, with which only the newest minor judges.
func podLevel(t *rapid.T, in *cpu.Life, label string) {
	if check.Minor(t) == kubelet.Latest {
		in.FeatureGates[cpu.PodLevelManagers] = rapid.Bool().Draw(t, label)
	}
}

func drawStep(t *rapid.T, i, total int) cpu.Step {
	if i > 1 && rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
		return cpu.Step{Remove: fmt.Sprintf("p%d", rapid.IntRange(0, i-1).Draw(t, "which")), Keep: max(0, rapid.IntRange(-3, 2).Draw(t, "keep"))}
	}
	s := cpu.Step{Pod: &corev1.Pod{}, PodScope: rapid.Bool().Draw(t, "pod scope"), Pick: rapid.IntRange(-3, 6).Draw(t, "pick")}
	uid := i
	if i > 0 && rapid.IntRange(0, 7).Draw(t, "again") == 0 {
		uid = rapid.IntRange(0, i-1).Draw(t, "uid")
	}
	s.Pod.Name = fmt.Sprintf("p%d", uid)
	s.Pod.UID = types.UID(s.Pod.Name)
	amount := rapid.OneOf(rapid.IntRange(0, max(1, total/8)), rapid.IntRange(0, max(1, total/2)))
	always := corev1.ContainerRestartPolicyAlways
	for n := range rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3}).Draw(t, "init containers") {
		c := drawContainer(t, fmt.Sprintf("i%d", n), amount)
		if rapid.IntRange(0, 2).Draw(t, "sidecar") == 0 {
			c.RestartPolicy = &always
		}
		s.Pod.Spec.InitContainers = append(s.Pod.Spec.InitContainers, c)
	}
	for n := range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "containers") {
		s.Pod.Spec.Containers = append(s.Pod.Spec.Containers, drawContainer(t, fmt.Sprintf("c%d", n), amount))
	}
	if rapid.IntRange(0, 5).Draw(t, "pod level") == 0 {
		list := amounts(fmt.Sprint(amount.Draw(t, "pod cpus")+1), "8Gi")
		s.Pod.Spec.Resources = &corev1.ResourceRequirements{Requests: list, Limits: list}
	}
	return s
}

func drawContainer(t *rapid.T, name string, amount *rapid.Generator[int]) corev1.Container {
	request := fmt.Sprint(max(1, amount.Draw(t, name)))
	limit := request
	switch rapid.IntRange(0, 12).Draw(t, name+" kind") {
	case 0:
		request, limit = "1500m", "1500m"
	case 1:
		limit += "100m"
	case 2:
		return corev1.Container{Name: name}
	}
	return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: amounts(request, "1Gi"), Limits: amounts(limit, "1Gi")}}
}

func amounts(cpus, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpus), corev1.ResourceMemory: resource.MustParse(memory)}
}
