package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kqos/kqos/internal/admission"
	"github.com/kqos/kqos/internal/inspect"
	"github.com/kqos/kqos/internal/kubelet"
)

func TestNameStatic(t *testing.T) {
	root := t.TempDir()
	const hash = "3573511d21e2fdcdf213bf4e9c940c5e"
	if err := os.MkdirAll(filepath.Join(root, "var/log/pods/default_hashed-testnode_"+hash), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]types.UID{"hashed": hash, "given": "0a", "absent": ""} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if name == "given" {
			pod.UID = "0a"
		}
		admission.EnsureUID(pod, admission.Static)
		before := pod.UID
		(&wanted{pods: []*corev1.Pod{pod}}).nameStatic(inspect.HostOwners(root))
		if want == "" {
			want = before
		}
		if pod.UID != want {
			t.Errorf("%s got the uid %s, not %s", name, pod.UID, want)
		}
	}
}

func TestRulesOfKubelet(t *testing.T) {
	for text, unverified := range map[string]string{
		"Kubernetes v1.37.2":                       "",
		"Kubernetes v1.36.0":                       "",
		"Kubernetes v0.0.0-master+$Format:%H$":     "names no version",
		"Kubernetes v1.99.0":                       "has version 1.99",
		"error: could not read the version, sorry": "names no version",
	} {
		r := rulesOfKubelet(text, nil)
		if !r.minor.Known() || (r.unverified == "") != (unverified == "") || !strings.Contains(r.unverified, unverified) {
			t.Errorf("%s: %+v", text, r)
		}
	}
	// One that is too busy to answer may be of any version.
	if r := rulesOfKubelet("", errors.New("killed")); r.minor != kubelet.Latest || !strings.Contains(r.unverified, "does not tell its version (killed)") {
		t.Errorf("without an answer: %+v", r)
	}
	if r := rulesOfKubelet("Kubernetes v0.0.0-master+$Format:%H$", nil); r.minor != kubelet.Latest {
		t.Errorf("the rules of %s stand in, not of the latest", r.minor)
	}
}
