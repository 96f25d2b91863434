package gen

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// StaticFile generates the text of a file in a static pod folder: mostly a pod
// that the kubelet takes, with or without name, namespace and uid, in YAML or
// JSON, also among other documents, and much that it refuses.
func StaticFile() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		first := object(t, staticPod(t))
		var b strings.Builder
		b.WriteString(rapid.SampledFrom([]string{"", "", "", "", "---\n", "# a pod\n", "\n\n", "# a pod\n---\n", "\ufeff", "---\n---\n"}).Draw(t, "before"))
		b.Write(first)
		b.WriteString(rapid.SampledFrom([]string{"", "", "", "\n", "\n---\n", "\n...\n", "\n---\n# end\n"}).Draw(t, "after"))
		if rapid.IntRange(0, 9).Draw(t, "second") == 0 {
			b.WriteString(rapid.SampledFrom([]string{"\n---\n", "\n"}).Draw(t, "between"))
			b.Write(object(t, staticPod(t)))
		}
		return b.String()
	})
}

// object is the text of the pod, or of something that holds it.
func object(t *rapid.T, p *corev1.Pod) []byte {
	p.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	switch text := string(data); rapid.IntRange(0, 39).Draw(t, "kind") {
	case 0:
		data = []byte(strings.Replace(text, `"kind":"Pod",`, "", 1))
	case 1:
		data = []byte(strings.Replace(text, `"apiVersion":"v1",`, "", 1))
	case 2:
		data = []byte(strings.Replace(text, `"Pod"`, `"Pods"`, 1))
	case 3:
		data = []byte(strings.Replace(text, `"v1"`, `"v2"`, 1))
	case 4:
		data = fmt.Appendf(nil, `{"apiVersion":"v1","kind":"PodList","items":[%s]}`, text)
	case 5:
		data = fmt.Appendf(nil, `{"apiVersion":"v1","kind":"List","items":[%s]}`, text)
	case 6:
		data = fmt.Appendf(nil, `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"d"},"spec":{"template":%s}}`, text)
	case 7:
		data = []byte(strings.Replace(text, `"spec":{`, `"spec":{"noSuchField":1,`, 1))
	case 8:
		data = []byte(strings.Replace(text, `"spec":{`, `"spec":{"hostNetwork":"none",`, 1))
	case 9:
		data = []byte(text[:len(text)-1])
	}
	if rapid.Bool().Draw(t, "yaml") {
		if out, err := yaml.JSONToYAML(data); err == nil {
			return out
		}
	}
	return data
}

// staticPod draws a pod, which refers to objects of the API now and then.
func staticPod(t *rapid.T) *corev1.Pod {
	p := Pod().Draw(t, "pod")
	p.Name = rapid.SampledFrom([]string{"web", "web", "web", "web", "a.b", "web-", "Web", "web_1", "", strings.Repeat("x", 250)}).Draw(t, "name")
	p.Namespace = rapid.SampledFrom([]string{"", "", "", "kube-system", "a.b", "Kube"}).Draw(t, "namespace")
	p.UID = types.UID(rapid.SampledFrom([]string{"", "0123", "6fd1d2b5-9d4c-4d67-8ac9-1b3c9d0e7d4f"}).Draw(t, "uid"))
	if rapid.IntRange(0, 9).Draw(t, "generated") == 0 {
		p.GenerateName = "web-"
	}
	if rapid.IntRange(0, 2).Draw(t, "ephemeral") > 0 {
		p.Spec.EphemeralContainers = nil
	}
	if rapid.IntRange(0, 3).Draw(t, "refers") == 0 {
		refer(t, p)
	}
	return p
}

func refer(t *rapid.T, p *corev1.Pod) {
	volume := func(source corev1.VolumeSource) { p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: source}} }
	named := corev1.LocalObjectReference{Name: "a"}
	projected := func(s corev1.VolumeProjection) {
		volume(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{s}}})
	}
	switch rapid.IntRange(0, 19).Draw(t, "to") {
	case 0:
		p.Spec.ServiceAccountName = "default"
	case 1:
		p.Spec.DeprecatedServiceAccount = "default"
	case 2:
		p.Spec.ImagePullSecrets = []corev1.LocalObjectReference{named}
	case 3:
		volume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "a"}})
	case 4:
		volume(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named}})
	case 5:
		volume(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "a"}})
	case 6:
		volume(corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "a"}})
	case 7:
		volume(corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "a", NodePublishSecretRef: &named}})
	case 8:
		volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/a"}})
	case 9:
		volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
	case 10:
		volume(corev1.VolumeSource{})
	case 11:
		projected(corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: named}})
	case 12:
		projected(corev1.VolumeProjection{Secret: &corev1.SecretProjection{LocalObjectReference: named}})
	case 13:
		projected(corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "a"}})
	case 14:
		projected(corev1.VolumeProjection{DownwardAPI: &corev1.DownwardAPIProjection{}})
	case 15:
		volume(corev1.VolumeSource{AzureFile: &corev1.AzureFileVolumeSource{SecretName: "a", ShareName: "a"}})
	case 16:
		volume(corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"a"}, RBDImage: "a", SecretRef: &named}})
	case 17:
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "a", ResourceClaimName: &named.Name}}
	default:
		from := &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: named, Key: "k"}}
		if rapid.Bool().Draw(t, "config map") {
			from = &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: named, Key: "k"}}
		}
		c := &p.Spec.Containers[0]
		c.Env = []corev1.EnvVar{{Name: "A", ValueFrom: from}}
		if rapid.Bool().Draw(t, "all keys") {
			c.Env, c.EnvFrom = nil, []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: named}}}
		}
	}
}
