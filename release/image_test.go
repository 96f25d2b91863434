package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"sigs.k8s.io/yaml"
)

// TestImage reads the image back as a container runtime does.
func TestImage(t *testing.T) {
	dir := t.TempDir()
	for name, e := range entries(t, bytes.NewReader(file(t, "kqos_1.2.3-rc.1_image.tar"))) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), e.data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	path, err := layout.FromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	outer, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(outer); err != nil {
		t.Error(err)
	}
	names, err := outer.IndexManifest()
	if err != nil || len(names.Manifests) != 1 {
		t.Fatalf("%v: the layout names %d images, not one", err, len(names.Manifests))
	}
	if diff := cmp.Diff(map[string]string{
		"org.opencontainers.image.ref.name": "1.2.3-rc.1", "io.containerd.image.name": deployed(t) + ":1.2.3-rc.1",
	}, names.Manifests[0].Annotations); diff != "" {
		t.Errorf("name (-want +got):\n%s", diff)
	}
	index, err := outer.ImageIndex(names.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
		one, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		checkImage(t, one, *m.Platform)
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, platforms); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

func checkImage(t *testing.T, one v1.Image, platform v1.Platform) {
	t.Helper()
	config, err := one.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(platform, *config.Platform()); diff != "" {
		t.Errorf("platform (-index +image):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/kqos"}, config.Config.Entrypoint); diff != "" || !config.Created.Equal(made.made) {
		t.Errorf("made %s; entry point (-want +got):\n%s", config.Created, diff)
	}
	layers, err := one.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, not 1: %v", len(layers), err)
	}
	plain, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	found := entries(t, plain)
	const want = "-rwxr-xr-x kqos\n-rw-r--r-- licenses/LICENSE\n-rw-r--r-- licenses/THIRD-PARTY-LICENSES\n"
	if diff := cmp.Diff(want, modes(found)); diff != "" {
		t.Errorf("layer (-want +got):\n%s", diff)
	}
	if !bytes.Equal(found["kqos"].data, program(t, platform.OS, platform.Architecture)) {
		t.Error("/kqos is not the binary")
	}
}

// deployed is the name under which deploy/kubernetes pulls the image.
func deployed(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../deploy/kubernetes/base/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var base struct{ Images []struct{ NewName string } }
	if err := yaml.Unmarshal(text, &base); err != nil || len(base.Images) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	return strings.TrimSpace(base.Images[0].NewName)
}
