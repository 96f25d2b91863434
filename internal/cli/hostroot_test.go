package cli

import (
	"archive/tar"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestUnpackStaysInside gives links that lead out of the archive, through one
// another too, and reads what they lead to.
func TestUnpackStaysInside(t *testing.T) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, h := range []tar.Header{
		{Name: "etc/secret", Typeflag: tar.TypeReg, Size: 6},
		{Name: "a/b/deep", Typeflag: tar.TypeSymlink, Linkname: "../../../../../../etc/secret"},
		{Name: "absolute", Typeflag: tar.TypeSymlink, Linkname: "/etc/secret"},
		{Name: "jump", Typeflag: tar.TypeSymlink, Linkname: "a/b"},
		{Name: "chained", Typeflag: tar.TypeSymlink, Linkname: "jump/../../../../etc/secret"},
		{Name: "up", Typeflag: tar.TypeSymlink, Linkname: "../.."},
	} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte("inside")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	outer := t.TempDir()
	file := filepath.Join(outer, "node.tar")
	if err := os.WriteFile(file, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(outer, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outer, "etc/secret"), []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(outer, "root")
	if err := unpack(context.Background(), file, root); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a/b/deep", "absolute", "chained", "jump/deep", "up/etc/secret"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || string(text) != "inside" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
