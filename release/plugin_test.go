package main

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sigs.k8s.io/krew/pkg/index"
	"sigs.k8s.io/yaml"
)

func TestPlugin(t *testing.T) {
	var p index.Plugin
	if err := yaml.UnmarshalStrict(file(t, "kqos.krew.yaml"), &p); err != nil {
		t.Fatal(err)
	}
	if p.Name != "kqos" || p.Spec.Version != "v1.2.3-rc.1" || len(p.Spec.Platforms) != len(made.binaries) {
		t.Errorf("%s %s has %d platforms", p.Name, p.Spec.Version, len(p.Spec.Platforms))
	}
	for _, platform := range p.Spec.Platforms {
		labels := platform.Selector.MatchLabels
		name := path.Base(platform.URI)
		if !strings.HasSuffix(name, "_"+labels["os"]+"_"+labels["arch"]+".tar.gz") {
			t.Errorf("%v gets %s", labels, name)
		}
		archive := file(t, name)
		if got := sum(archive); got != platform.Sha256 {
			t.Errorf("%s has %s, the manifest says %s", name, got, platform.Sha256)
		}
		found := entries(t, bytes.NewReader(unpacked(t, archive)))
		for _, f := range platform.Files {
			if _, ok := found[f.From]; !ok {
				t.Errorf("%s does not hold %s", name, f.From)
			}
		}
	}
}

// TestKrew lets krew itself install the plugin, and kubectl's name for it run.
func TestKrew(t *testing.T) {
	root := t.TempDir()
	b := binary{os: runtime.GOOS, arch: runtime.GOARCH}
	install := exec.Command("go", "tool", "krew", "install", "--manifest="+filepath.Join(made.out, "kqos.krew.yaml"),
		"--archive="+filepath.Join(made.out, made.name(b)+".tar.gz"))
	install.Env = append(os.Environ(), "KREW_ROOT="+root, "KREW_NO_UPGRADE_CHECK=1")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command(filepath.Join(root, "bin/kubectl-kqos"), "classify", "--help").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\n  kubectl kqos classify ") {
		t.Errorf("%v: %s", err, out)
	}
}
