package gen

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/internal/machine"
)

// scenarioPod draws a pod of which most containers are Guaranteed with whole CPUs.
func scenarioPod(t *rapid.T, name string, m *machine.Machine) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	burstable := rapid.IntRange(0, 7).Draw(t, "burstable") == 0
	for i := range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "containers") {
		p.Spec.Containers = append(p.Spec.Containers, scenarioContainer(t, fmt.Sprintf("c%d", i), m, burstable))
	}
	always := corev1.ContainerRestartPolicyAlways
	for i := range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "init containers") {
		c := scenarioContainer(t, fmt.Sprintf("i%d", i), m, burstable)
		if rapid.Bool().Draw(t, "sidecar") {
			c.RestartPolicy = &always
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
	if rapid.IntRange(0, 5).Draw(t, "pod level") == 0 {
		list := corev1.ResourceList{
			"cpu":    resource.MustParse(rapid.SampledFrom([]string{"1", "2", "4", "6", "8", "2500m"}).Draw(t, "pod cpu")),
			"memory": resource.MustParse(rapid.SampledFrom([]string{"1Gi", "2Gi", "4Gi"}).Draw(t, "pod memory")),
		}
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: list, Limits: list.DeepCopy()}
	}
	return p
}

func scenarioContainer(t *rapid.T, name string, m *machine.Machine, burstable bool) corev1.Container {
	c := corev1.Container{Name: name, Image: "a:1"}
	cpus := rapid.OneOf(rapid.SampledFrom([]int{1, 2, 2, 3, 4, 4, 6, 8}), rapid.IntRange(1, max(1, len(m.CPUs)))).Draw(t, "cpus")
	text := fmt.Sprint(cpus)
	if rapid.IntRange(0, 6).Draw(t, "fraction") == 0 {
		text = fmt.Sprintf("%d500m", cpus)
	}
	list := corev1.ResourceList{
		"cpu":    resource.MustParse(text),
		"memory": resource.MustParse(rapid.SampledFrom([]string{"64Mi", "512Mi", "1Gi", "1Gi", "3Gi", "6Gi", "9Gi", "20Gi", "1000000001"}).Draw(t, "memory")),
	}
	switch rapid.IntRange(0, 24).Draw(t, "lacks") {
	case 0:
		list = corev1.ResourceList{}
	case 1:
		delete(list, "memory")
	case 2:
		delete(list, "cpu")
	}
	for size := range m.HugePageCounts() {
		if rapid.IntRange(0, 4).Draw(t, size) == 0 {
			q := resource.MustParse(size)
			q.Mul(int64(rapid.IntRange(1, 3).Draw(t, "pages")))
			list[corev1.ResourceName("hugepages-"+size)] = q
		}
	}
	if len(m.Devices) > 0 {
		for _, r := range []corev1.ResourceName{gpu, nic} {
			if rapid.IntRange(0, 2).Draw(t, string(r)) == 0 {
				list[r] = *resource.NewQuantity(int64(rapid.IntRange(1, 3).Draw(t, "devices")), resource.DecimalSI)
			}
		}
	}
	c.Resources = corev1.ResourceRequirements{Requests: list, Limits: list.DeepCopy()}
	switch {
	case burstable:
		c.Resources.Limits["cpu"] = resource.MustParse("1000")
	case rapid.IntRange(0, 9).Draw(t, "limits only") == 0:
		c.Resources.Requests = nil
	}
	return c
}
