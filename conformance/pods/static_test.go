package pods

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/gen"
	"github.com/kqos/kqos/conformance/oracle/static"
	"github.com/kqos/kqos/internal/admission"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/manifest"
)

// nodeName is appended to the names of static pods.
const nodeName = "n"

// staticFile is a file of the static pod folder.
type staticFile struct {
	Text         string          `json:"text"`
	FeatureGates map[string]bool `json:"featureGates"`
}

// staticPod is what is made of it: nothing where it is refused.
type staticPod struct {
	Refused   bool   `json:"refused"`
	Why       string `json:"-"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Amounts   stored `json:"amounts"`
}

func TestStatic(t *testing.T) {
	dir := t.TempDir()
	check.Property(t, 3000, func(t *rapid.T) {
		in := staticFile{Text: gen.StaticFile().Draw(t, "file"), FeatureGates: gen.KnownGates(podGates()).Draw(t, "gates")}
		g, ok := setGates(t, in.FeatureGates)
		if !ok {
			return
		}
		file := filepath.Join(dir, "pod.yaml")
		if err := os.WriteFile(file, []byte(in.Text), 0o600); err != nil {
			t.Fatal(err)
		}
		want, got := readByKubelet(file), readByKqos(file, g)
		if want.Refused != got.Refused {
			t.Logf("the kubelet: %s; kqos: %s", want.Why, got.Why)
		}
		if want.Refused && got.Refused {
			return
		}
		check.Equal(t, in, want, got)
	})
}

func readByKubelet(file string) staticPod {
	pod, err := static.Read(file, nodeName)
	if err != nil {
		return staticPod{Refused: true, Why: err.Error()}
	}
	out := staticPod{Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID), Amounts: amountsOf(pod)}
	if generated := pod.Annotations["kubernetes.io/config.hash"]; len(generated) == hashLength && generated == out.UID {
		out.UID = ""
	}
	return out
}

// hashLength is that of a UID which the kubelet makes up.
const hashLength = 32

// readByKqos reads the first document, as the kubelet does.
func readByKqos(file string, g kubelet.Gates) staticPod {
	in := manifest.Read([]string{file}, manifest.Options{Static: true})
	if len(in.Workloads) == 0 {
		return staticPod{Refused: true, Why: fmt.Sprint(in.Errors, in.Warnings)}
	}
	first := in.Workloads[0]
	var told []string
	for _, e := range in.Errors {
		if e.Document <= first.Source.Document {
			return staticPod{Refused: true, Why: e.Error()}
		}
	}
	for _, w := range in.Warnings {
		told = append(told, w.Error())
	}
	pod := first.Pod
	out := staticPod{UID: string(pod.UID)}
	told = append(told, admission.Admit(pod, admission.Static, admission.Objects{}, g)...)
	out.Why = strings.Join(told, "; ")
	out.Refused = strings.Contains(out.Why, "the kubelet would refuse the file") || strings.Contains(out.Why, "API validation refuses the pod")
	out.Namespace, out.Name, out.Amounts = pod.Namespace, pod.Name+"-"+nodeName, amountsOf(pod)
	return out
}

// TestStaticFolder has files that a static pod folder may hold besides pods.
func TestStaticFolder(t *testing.T) {
	dir := t.TempDir()
	pod := func(name string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {containers: [{name: a, image: a}]}\n", name)
	}
	for file, name := range map[string]string{"b.yaml": "one", "a": "two", ".hidden.yaml": "three", "c.yaml~": "four", "sub/d.yaml": "five", "..data/e.yaml": "six", "B.json": "seven"} {
		file = filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(pod(name)), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"d": "sub", "e.yaml": "..data/e.yaml", "f": "gone"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	check.Quiet()
	pods, err := static.ReadFolder(dir, nodeName)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, p := range pods {
		want = append(want, p.Name)
	}
	in := manifest.Read([]string{dir}, manifest.Options{Static: true})
	for _, w := range in.Workloads {
		got = append(got, w.Pod.Name+"-"+nodeName)
	}
	check.Equal(t, "the folder", want, got)
	// What is no file is passed over; a link to nothing is worth telling.
	if len(in.Errors) != 1 || in.Errors[0].File != filepath.Join(dir, "f") {
		t.Errorf("errors %v, want one on the link to nothing", in.Errors)
	}
}
