package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/cgroups"
)

// TestIdle tells of CPUs of init containers once the app of their pod runs, but of
// those that others of the pod took over.
func TestIdle(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u"},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "warm"}, {Name: "proxy", RestartPolicy: &always}, {Name: "load"}},
			Containers:     []corev1.Container{{Name: "app"}, {Name: "log"}},
		},
	}
	container := func(name string) Cgroup {
		return Cgroup{Level: cgroups.LevelContainer, Pod: &cgroups.PodRef{UID: "u"}, Container: name}
	}
	held := map[string]cpuset.CPUSet{"warm": cpuset.New(2, 3, 4, 5), "proxy": cpuset.New(4), "load": cpuset.New(2, 6), "app": cpuset.New(2)}
	for _, tt := range []struct {
		name  string
		shown []Cgroup
		held  map[string]cpuset.CPUSet
		want  []string
	}{
		{"the app runs", []Cgroup{container("proxy"), container("log")}, held, []string{
			"CPUs 3,5 are held for init container shop/web/warm, which has ended: nobody uses them until the pod goes",
			"CPUs 6 are held for init container shop/web/load, which has ended: nobody uses them until the pod goes",
		}},
		{"not yet", []Cgroup{container("proxy"), container("load")}, held, nil},
		{"taken over", []Cgroup{container("app")}, map[string]cpuset.CPUSet{"warm": cpuset.New(2), "app": cpuset.New(2, 3)}, nil},
		{"of the pod as a whole", []Cgroup{container("app")}, map[string]cpuset.CPUSet{"": cpuset.New(2, 3), "warm": cpuset.New(2)}, nil},
	} {
		owners := HostOwners(t.TempDir())
		owners.Add([]*corev1.Pod{pod})
		i := Inspection{Owners: owners, Pods: []*corev1.Pod{pod}, Exclusive: map[string]map[string]cpuset.CPUSet{"u": tt.held}}
		if d := cmp.Diff(tt.want, i.idle(tt.shown)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}
