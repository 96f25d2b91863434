package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	layers "github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// repository is the image's name in deploy/kubernetes.
const repository = "ghcr.io/kqos/kqos"

// tag is the version as a tag of an image may be, which knows no plus sign.
func (r *release) tag() string { return strings.ReplaceAll(r.version, "+", "-") }

// image makes one image for all architectures of Linux, from scratch and without a
// daemon: an OCI layout in a tar archive.
func (r *release) image() error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range r.binaries {
		if b.os != "linux" {
			continue
		}
		one, err := r.imageOf(b)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: one, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: b.os, Architecture: b.arch}},
		})
	}
	dir, err := os.MkdirTemp("", "kqos-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": r.tag(),
		// containerd takes the whole name from it.
		"io.containerd.image.name": repository + ":" + r.tag(),
	})); err != nil {
		return err
	}
	members := map[string]member{}
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		members[filepath.ToSlash(name)] = member{data, 0o644}
		return err
	}); err != nil {
		return err
	}
	data, err := tarball(members, r.made)
	if err != nil {
		return err
	}
	return r.create("kqos_"+r.version+"_image.tar", data)
}

// imageOf is the image for one architecture: the binary and licenses in one layer.
func (r *release) imageOf(b binary) (v1.Image, error) {
	program, err := os.ReadFile(b.path)
	if err != nil {
		return nil, err
	}
	members := map[string]member{"kqos": {program, 0o755}}
	for _, t := range r.texts {
		if strings.Contains(t.archived, "LICENSE") {
			members["licenses/"+t.archived] = member{t.data, 0o644}
		}
	}
	plain, err := tarball(members, r.made)
	if err != nil {
		return nil, err
	}
	layer, err := layers.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(plain)), nil
	}, layers.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	made := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	made, err = mutate.Append(made, mutate.Addendum{
		Layer: layer, History: v1.History{Created: v1.Time{Time: r.made}, CreatedBy: "kqos release"},
	})
	if err != nil {
		return nil, err
	}
	config, err := made.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = b.os, b.arch, v1.Time{Time: r.made}
	config.Config.Entrypoint = []string{"/kqos"}
	config.Config.Labels = map[string]string{
		"org.opencontainers.image.title": "kqos", "org.opencontainers.image.version": r.version,
		"org.opencontainers.image.source": homepage, "org.opencontainers.image.licenses": "Apache-2.0",
	}
	return mutate.ConfigFile(made, config)
}
