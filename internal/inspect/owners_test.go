package inspect

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kqos/kqos/internal/cgroups"
)

func TestOwners(t *testing.T) {
	root := t.TempDir()
	for _, path := range []string{
		"var/lib/kubelet/pods/u1", "var/log/pods/shop_web-0_u1/app", "var/log/pods/odd",
		"var/log/containers/web-0_shop_app-with-dash-c0ffee.log", "var/log/containers/odd",
	} {
		if err := os.MkdirAll(filepath.Join(root, path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	o := HostOwners(root)
	o.Add([]*corev1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "given", UID: "u2"},
		Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "c", ContainerID: "containerd://beef"}}},
	}})
	if d := cmp.Diff(cgroups.PodRef{Namespace: "shop", Name: "web-0", UID: "u1"}, o.Pod("u1")); d != "" {
		t.Error("-want +got:\n" + d)
	}
	if d := cmp.Diff(cgroups.PodRef{UID: "u3"}, o.Pod("u3")); d != "" {
		t.Error("-want +got:\n" + d)
	}
	for id, want := range map[string]string{"c0ffee": "app-with-dash", "beef": "c", "none": ""} {
		if got := o.Container(id); got != want {
			t.Errorf("container %s: got %q, want %q", id, got, want)
		}
	}
	for uid, want := range map[string]bool{"u1": true, "u2": true, "u3": false} {
		if got := o.Known(uid); got != want {
			t.Errorf("known %s: got %v, want %v", uid, got, want)
		}
	}
	if HostOwners(t.TempDir()).Any() {
		t.Error("an empty root knows pods")
	}
}
