package qos

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/internal/kubelet"
)

func TestReasons(t *testing.T) {
	list := func(pairs ...string) corev1.ResourceList {
		out := corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return out
	}
	one := func(requests, limits corev1.ResourceList) *corev1.Pod {
		return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}}}}
	}
	podLevel := one(nil, nil)
	podLevel.Spec.Resources = &corev1.ResourceRequirements{Requests: list("hugepages-2Mi", "2Mi")}
	stale := one(list("cpu", "1", "memory", "1Gi"), list("cpu", "1", "memory", "1Gi"))
	stale.Status.QOSClass = corev1.PodQOSBestEffort
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want []string
	}{
		"guaranteed":          {one(list("cpu", "1", "memory", "1Gi"), list("cpu", "1", "memory", "1Gi")), nil},
		"nothing set":         {one(nil, nil), []string{"app memory: no container requests or limits cpu or memory; set requests.memory of one container, such as 128Mi"}},
		"no limit":            {one(list("cpu", "1", "memory", "1Gi"), list("cpu", "1")), []string{"app memory: memory has no limit; set limits.memory to 1Gi"}},
		"limit only":          {one(list("cpu", "1"), list("cpu", "1", "memory", "1Gi")), []string{"app memory: memory has no request; set requests.memory to 1Gi"}},
		"below the limit":     {one(list("cpu", "500m", "memory", "1Gi"), list("cpu", "1", "memory", "1Gi")), []string{"app cpu: cpu request 500m is below its limit 1; set requests.cpu to 1"}},
		"above the limit":     {one(list("cpu", "2", "memory", "1Gi"), list("cpu", "1", "memory", "1Gi")), []string{"app cpu: cpu request 2 is above its limit 1; set limits.cpu to 2"}},
		"one resource absent": {one(list("cpu", "1"), list("cpu", "1")), []string{"app memory: memory has neither request nor limit; set requests.memory and limits.memory to one value, such as 128Mi"}},
		"pod level":           {podLevel, []string{" memory: spec.resources alone decides the class and names neither cpu nor memory; set requests.memory in spec.resources, such as 128Mi"}},
		"no containers":       {&corev1.Pod{}, []string{" : the pod has no containers; add a container with a memory request"}},
		"status believed":     {stale, []string{" : status.qosClass says BestEffort and the kubelet believes it; the spec alone means Guaranteed; create the pod anew: the class is set at creation and never changes"}},
	} {
		var got []string
		for _, r := range Reasons(c.pod, kubelet.Gates{}) {
			got = append(got, fmt.Sprintf("%s %s: %s; %s", r.Container, r.Resource, r.Message, r.Fix))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestReasonsRaiseTheClass applies what is proposed: all changes together put
// the pod into the next better class, and without the changes of any one reason
// it stays where it is.
func TestReasonsRaiseTheClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := kubelet.Gates{}
		pod := drawPod(t)
		class := ComputeClass(pod, g)
		reasons := Reasons(pod, g)
		if class == corev1.PodQOSGuaranteed {
			if len(reasons) > 0 {
				t.Fatalf("reasons for a Guaranteed pod: %v", reasons)
			}
			return
		}
		if got := ComputeClass(changed(t, pod, reasons, -1), g); Rank(got) != Rank(class)+1 {
			t.Fatalf("%s becomes %s by %v", class, got, reasons)
		}
		for i := range reasons {
			if got := ComputeClass(changed(t, pod, reasons, i), g); got != class {
				t.Fatalf("%s becomes %s without reason %d of %v", class, got, i, reasons)
			}
		}
	})
}

// drawPod makes pods whose amounts are often absent, equal or zero.
func drawPod(t *rapid.T) *corev1.Pod {
	amounts := rapid.SampledFrom([]string{"", "", "0", "1", "2", "500m"})
	draw := func(label string) corev1.ResourceRequirements {
		r := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
			for kind, list := range map[string]corev1.ResourceList{"request": r.Requests, "limit": r.Limits} {
				if q := amounts.Draw(t, label+" "+kind+" "+string(name)); q != "" {
					list[name] = resource.MustParse(q)
				}
			}
		}
		return r
	}
	pod := &corev1.Pod{}
	for i := range rapid.IntRange(0, 2).Draw(t, "init containers") {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{Name: fmt.Sprintf("i%d", i), Resources: draw("init")})
	}
	for i := range rapid.IntRange(1, 2).Draw(t, "containers") {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: fmt.Sprintf("c%d", i), Resources: draw("container")})
	}
	if rapid.Bool().Draw(t, "pod level") {
		r := draw("pod")
		pod.Spec.Resources = &r
	}
	return pod
}

// changed is a copy of the pod with the changes of all reasons but one.
func changed(t *rapid.T, pod *corev1.Pod, reasons []Reason, but int) *corev1.Pod {
	out := pod.DeepCopy()
	for i := range reasons {
		if i == but {
			continue
		}
		for _, c := range reasons[i].Changes {
			setField(t, out, c)
		}
	}
	return out
}

// setField writes the quantity at a path such as
// spec.initContainers[1].resources.limits.cpu.
func setField(t *rapid.T, pod *corev1.Pod, c Change) {
	parts := strings.Split(c.Path, ".")
	r := pod.Spec.Resources
	if list, index, ok := strings.Cut(parts[1], "["); ok {
		i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
		if err != nil {
			t.Fatal(err)
		}
		of := map[string][]corev1.Container{"containers": pod.Spec.Containers, "initContainers": pod.Spec.InitContainers}[list]
		r = &of[i].Resources
	}
	into := map[string]*corev1.ResourceList{"requests": &r.Requests, "limits": &r.Limits}[parts[len(parts)-2]]
	if *into == nil {
		*into = corev1.ResourceList{}
	}
	(*into)[corev1.ResourceName(parts[len(parts)-1])] = resource.MustParse(c.To)
}
