//go:build handover

package handover

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"runtime"
)

// writeImage packs one static program as a container image, in the form of
// docker save, which containerd imports.
func writeImage(program, name, to string) error {
	binary, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	layer, err := archive(file{"pause", 0o755, binary})
	if err != nil {
		return err
	}
	config := fmt.Sprintf(`{"architecture":%q,"os":"linux","config":{"Entrypoint":["/pause"]},`+
		`"rootfs":{"type":"layers","diff_ids":["sha256:%x"]}}`, runtime.GOARCH, sha256.Sum256(layer))
	manifest := fmt.Sprintf(`[{"Config":"config.json","RepoTags":[%q],"Layers":["layer.tar"]}]`, name)
	image, err := archive(
		file{"manifest.json", 0o644, []byte(manifest)},
		file{"config.json", 0o644, []byte(config)},
		file{"layer.tar", 0o644, layer},
	)
	if err != nil {
		return err
	}
	return os.WriteFile(to, image, 0o644)
}

type file struct {
	name    string
	mode    int64
	content []byte
}

func archive(files ...file) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content)), Typeflag: tar.TypeReg}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}
