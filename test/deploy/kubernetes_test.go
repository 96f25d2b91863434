package deploy

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// build makes an overlay and decodes all of it strictly: a field that the API
// does not have is an error.
func build(t *testing.T, overlay string) map[string]runtime.Object {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../../deploy/kubernetes/overlays/"+overlay)
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	objects := map[string]runtime.Object{}
	for _, r := range resources.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		object, _, err := decoder.Decode(text, nil, nil)
		if err != nil {
			t.Errorf("%s: %v\n%s", r.CurId(), err, text)
			continue
		}
		objects[r.GetKind()] = object
	}
	return objects
}

func daemonSet(t *testing.T, overlay string) *appsv1.DaemonSet {
	t.Helper()
	set, ok := build(t, overlay)["DaemonSet"].(*appsv1.DaemonSet)
	if !ok {
		t.Fatal("no DaemonSet")
	}
	return set
}

// TestOverlays holds the privileges of each overlay to the list that it justifies.
func TestOverlays(t *testing.T) {
	for overlay, allowed := range map[string]struct {
		capabilities []corev1.Capability
		writable     []string
	}{
		"observe":   {nil, nil},
		"reconcile": {[]corev1.Capability{"SYS_ADMIN"}, []string{"/run/dbus", "/run/systemd", "/sys/fs/cgroup"}},
	} {
		t.Run(overlay, func(t *testing.T) {
			set := daemonSet(t, overlay)
			pod := set.Spec.Template.Spec
			if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
				t.Error("a service account token is mounted")
			}
			if pod.HostNetwork || pod.HostIPC {
				t.Error("the host's network or IPC is shared")
			}
			if !slices.ContainsFunc(pod.Tolerations, func(t corev1.Toleration) bool {
				return t.Operator == corev1.TolerationOpExists && t.Key == ""
			}) {
				t.Error("not every taint is tolerated")
			}
			if set.Namespace != "kqos" || len(pod.Containers) != 1 {
				t.Fatalf("namespace %q, %d containers", set.Namespace, len(pod.Containers))
			}
			c := pod.Containers[0]
			s := c.SecurityContext
			if s.Privileged != nil && *s.Privileged || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
				t.Errorf("security context: %+v", s)
			}
			if !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) || !slices.Equal(s.Capabilities.Add, allowed.capabilities) {
				t.Errorf("capabilities: %+v", s.Capabilities)
			}
			var writable []string
			for _, m := range c.VolumeMounts {
				if !m.ReadOnly {
					writable = append(writable, m.MountPath)
				} else if m.RecursiveReadOnly == nil {
					t.Errorf("%s is not recursively read-only", m.MountPath)
				}
			}
			slices.Sort(writable)
			if !slices.Equal(writable, allowed.writable) {
				t.Errorf("writable: %q, want %q", writable, allowed.writable)
			}
			if c.LivenessProbe == nil || c.ReadinessProbe == nil || c.StartupProbe == nil || c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
				t.Error("a probe, a limit or a request is missing")
			}
			if c.Image != "ghcr.io/kqos/kqos:latest" {
				t.Errorf("image %s", c.Image)
			}
		})
	}
}
