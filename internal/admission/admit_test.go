package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kqos/kqos/internal/kubelet"
)

func parse[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// resourcesOf prints the first container's resources as YAML.
func resourcesOf(t *testing.T, pod *corev1.Pod) string {
	t.Helper()
	text, err := yaml.Marshal(pod.Spec.Containers[0].Resources)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLimitRanges(t *testing.T) {
	limits := func(items string) Objects {
		return Objects{LimitRanges: []*corev1.LimitRange{
			parse[corev1.LimitRange](t, "metadata: {namespace: other}\nspec: {limits: [{type: Container, default: {cpu: 9}}]}"),
			parse[corev1.LimitRange](t, "metadata: {namespace: shop}\nspec: {limits: ["+items+"]}"),
		}}
	}
	for name, c := range map[string]struct {
		resources, items, want string
		told                   []string
	}{
		"default gives the request too": {
			"{}", "{type: Container, default: {cpu: 2}}",
			"limits:\n  cpu: \"2\"\nrequests:\n  cpu: \"2\"\n", nil,
		},
		"default request stays below": {
			"{}", "{type: Container, default: {cpu: 2}, defaultRequest: {cpu: 1}}",
			"limits:\n  cpu: \"2\"\nrequests:\n  cpu: \"1\"\n", nil,
		},
		"max gives the default, min the request": {
			"{}", "{type: Container, max: {cpu: 4}, min: {memory: 1Mi}}",
			"limits:\n  cpu: \"4\"\nrequests:\n  cpu: \"4\"\n  memory: 1Mi\n", nil,
		},
		"the pod's own limit gave its request before": {
			"{limits: {cpu: 3}}", "{type: Container, defaultRequest: {cpu: 1}}",
			"limits:\n  cpu: \"3\"\nrequests:\n  cpu: \"3\"\n", nil,
		},
		"the later item wins": {
			"{}", "{type: Container, defaultRequest: {cpu: 1}}, {type: Container, defaultRequest: {cpu: 2}}",
			"requests:\n  cpu: \"2\"\n", nil,
		},
		"pod items fill nothing": {
			"{}", "{type: Pod, max: {cpu: 1}}", "{}\n",
			[]string{"the API server would refuse the pod: LimitRange: maximum cpu is 1, but no limit is set (the pod)"},
		},
		"bounds": {
			"{requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 4, memory: 1Gi}}",
			"{type: Container, min: {cpu: 2}, max: {cpu: 3}, maxLimitRequestRatio: {cpu: 2, memory: 1}}",
			"limits:\n  cpu: \"4\"\n  memory: 1Gi\nrequests:\n  cpu: \"1\"\n  memory: 1Gi\n",
			[]string{
				"the API server would refuse the pod: LimitRange: minimum cpu is 2, but the request is 1 (container app)",
				"the API server would refuse the pod: LimitRange: maximum cpu is 3, but the limit is 4 (container app)",
				"the API server would refuse the pod: LimitRange: limit of cpu may be at most 2 times the request, but limit 4 and request 1 are set (container app)",
			},
		},
	} {
		pod := parse[corev1.Pod](t, "metadata: {name: web, namespace: shop}\nspec: {containers: [{name: app, resources: "+c.resources+"}]}")
		told := Admit(pod, Created, limits(c.items), kubelet.Gates{})
		if diff := cmp.Diff(c.want, resourcesOf(t, pod)); diff != "" {
			t.Errorf("%s: resources (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.told, told); diff != "" {
			t.Errorf("%s: told (-want +got):\n%s", name, diff)
		}
	}
}

func TestPriority(t *testing.T) {
	class := func(name string, value int32, global bool) *schedulingv1.PriorityClass {
		return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, GlobalDefault: global}
	}
	some := []*schedulingv1.PriorityClass{class("high", 100, false), class("b", 20, true), class("a", 10, true)}
	for name, c := range map[string]struct {
		spec     string
		classes  []*schedulingv1.PriorityClass
		class    string
		priority int32
		told     []string
	}{
		"named":                      {"{priorityClassName: high}", some, "high", 100, nil},
		"lowest of the defaults":     {"{}", some, "a", 10, nil},
		"no default":                 {"{}", some[:1], "", 0, nil},
		"built in beside others":     {"{priorityClassName: system-node-critical}", some, "system-node-critical", 2000001000, nil},
		"as written without classes": {"{priorityClassName: high, priority: 7}", nil, "high", 7, nil},
		"unresolved": {
			"{priorityClassName: system-cluster-critical}", nil, "system-cluster-critical", -1,
			[]string{"priorityClassName system-cluster-critical stays unresolved: give its PriorityClass among the inputs or set spec.priority (the API server sets 2000000000)"},
		},
		"unknown": {
			"{priorityClassName: gone}", some, "gone", -1,
			[]string{"the API server would refuse the pod: no PriorityClass with name gone was found among the inputs"},
		},
		"other number": {
			"{priorityClassName: high, priority: 7}", some, "high", 100,
			[]string{"the API server would refuse the pod: spec.priority 7 differs from 100, the value of its PriorityClass"},
		},
	} {
		pod := parse[corev1.Pod](t, "metadata: {name: web}\nspec: "+c.spec)
		pod.Spec.Containers = []corev1.Container{{Name: "app"}}
		told := Admit(pod, Created, Objects{PriorityClasses: c.classes}, kubelet.Gates{})
		got := int32(-1)
		if pod.Spec.Priority != nil {
			got = *pod.Spec.Priority
		}
		if got != c.priority || pod.Spec.PriorityClassName != c.class {
			t.Errorf("%s: %s %d, want %s %d", name, pod.Spec.PriorityClassName, got, c.class, c.priority)
		}
		if diff := cmp.Diff(c.told, told); diff != "" {
			t.Errorf("%s: told (-want +got):\n%s", name, diff)
		}
	}
}

func TestRuntimeClass(t *testing.T) {
	classes := []*nodev1.RuntimeClass{
		parse[nodev1.RuntimeClass](t, "metadata: {name: kata}\nhandler: kata\noverhead: {podFixed: {cpu: 250m}}"),
		parse[nodev1.RuntimeClass](t, "metadata: {name: runc}\nhandler: runc"),
	}
	for name, c := range map[string]struct {
		spec, cpu string
		told      []string
	}{
		"set":          {"{runtimeClassName: kata}", "250m", nil},
		"equal":        {"{runtimeClassName: kata, overhead: {cpu: 0.25}}", "250m", nil},
		"without one":  {"{runtimeClassName: runc}", "0", nil},
		"no class":     {"{overhead: {cpu: 1}}", "1", []string{"spec.overhead is set without a RuntimeClass: the API server would refuse that, it counts as written"}},
		"other amount": {"{runtimeClassName: kata, overhead: {cpu: 1}}", "250m", []string{"the API server would refuse the pod: spec.overhead differs from that of RuntimeClass kata, which counts here"}},
		"defines none": {"{runtimeClassName: runc, overhead: {cpu: 1}}", "1", []string{"the API server would refuse the pod: spec.overhead is set, but RuntimeClass runc defines none"}},
		"not given":    {"{runtimeClassName: gone}", "0", []string{"RuntimeClass gone is not among the inputs: an overhead that it sets is missing here"}},
		"live object":  {"{runtimeClassName: gone, overhead: {cpu: 1}}", "1", nil},
	} {
		pod := parse[corev1.Pod](t, "metadata: {name: web}\nspec: "+c.spec)
		pod.Spec.Containers = []corev1.Container{{Name: "app"}}
		told := Admit(pod, Created, Objects{RuntimeClasses: classes}, kubelet.Gates{})
		if got := pod.Spec.Overhead.Cpu().String(); got != c.cpu {
			t.Errorf("%s: overhead %s, want %s", name, got, c.cpu)
		}
		if diff := cmp.Diff(c.told, told); diff != "" {
			t.Errorf("%s: told (-want +got):\n%s", name, diff)
		}
	}
}

func TestReadings(t *testing.T) {
	const text = "metadata: {name: web}\nspec: {priorityClassName: high, containers: [{name: app, resources: {limits: {cpu: 100u}}}]}\nstatus: {qosClass: Burstable, phase: Running}"
	for reading, want := range map[Reading]struct {
		resources string
		class     corev1.PodQOSClass
		source    string
	}{
		Created:   {"limits:\n  cpu: 1m\nrequests:\n  cpu: 1m\n", "", ""},
		Static:    {"limits:\n  cpu: 1m\nrequests:\n  cpu: 1m\n", corev1.PodQOSBurstable, kubelet.SourceFile},
		AsWritten: {"limits:\n  cpu: 100u\n", corev1.PodQOSBurstable, ""},
	} {
		pod := parse[corev1.Pod](t, text)
		Admit(pod, reading, Objects{}, kubelet.Gates{})
		if got := resourcesOf(t, pod); got != want.resources {
			t.Errorf("%s: resources %q, want %q", reading, got, want.resources)
		}
		if pod.Status.QOSClass != want.class || pod.Annotations[kubelet.SourceAnnotation] != want.source {
			t.Errorf("%s: class %q, source %q", reading, pod.Status.QOSClass, pod.Annotations[kubelet.SourceAnnotation])
		}
	}
}

// TestPodLevelBefore137 has the decoder complete pod-level resources, so that
// static pods get them too.
func TestPodLevelBefore137(t *testing.T) {
	const text = "spec: {resources: {limits: {cpu: 2}}, containers: [{name: app, resources: {requests: {cpu: 1}, limits: {memory: 1Gi}}}]}"
	for minor, want := range map[kubelet.Minor]string{
		36: "limits:\n  cpu: \"2\"\nrequests:\n  cpu: \"1\"\n  memory: 1Gi\n",
		37: "limits:\n  cpu: \"2\"\n",
	} {
		pod := parse[corev1.Pod](t, text)
		Admit(pod, Static, Objects{}, kubelet.DefaultGates(minor))
		got, err := yaml.Marshal(pod.Spec.Resources)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", minor, diff)
		}
	}
}

func TestEnsureUID(t *testing.T) {
	uid := func(namespace, name, own string, reading Reading) string {
		pod := &corev1.Pod{}
		pod.Namespace, pod.Name, pod.UID = namespace, name, "" // as a manifest without uid
		if own != "" {
			pod.UID = "own"
		}
		if told := EnsureUID(pod, reading); (told == "") != (own != "") {
			t.Errorf("%s/%s: told %q", namespace, name, told)
		}
		return string(pod.UID)
	}
	if got := uid("a", "b", "own", Created); got != "own" {
		t.Errorf("the pod's own uid became %s", got)
	}
	if uid("", "b", "", Created) != uid("default", "b", "", Created) {
		t.Error("no namespace means default")
	}
	if uid("a", "b", "", Created) == uid("a", "c", "", Created) {
		t.Error("two names share a uid")
	}
	if got := uid("a", "b", "", Created); len(got) != 36 || got[14] != '5' {
		t.Errorf("%s is no UUID of version 5", got)
	}
	if got := uid("a", "b", "", Static); len(got) != 32 {
		t.Errorf("%s has not the form of the kubelet's hash", got)
	}
}
