package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ulikunitz/xz"
)

// member is one entry of an archive made for a test.
type member struct {
	name, content, link string
	kind                byte
}

func pack(t testing.TB, members ...member) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Linkname: m.link, Typeflag: m.kind, Size: int64(len(m.content)), Mode: 0o644}
		if m.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, m.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(t testing.TB, data []byte) *FS {
	t.Helper()
	files, err := Read(t.Context(), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestReadIsAFileSystem(t *testing.T) {
	files := read(t, pack(t,
		member{name: "a/b/c", content: "one"},
		member{name: "a/empty/", kind: tar.TypeDir},
		member{name: "d", content: "two"},
		member{name: "hard", link: "a/b/c", kind: tar.TypeLink},
		member{name: "pipe", kind: tar.TypeFifo},
	))
	if err := fstest.TestFS(files, "a/b/c", "a/empty", "d", "hard"); err != nil {
		t.Error(err)
	}
	if _, err := files.Stat("pipe"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a pipe is kept: %v", err)
	}
}

func TestReadPackings(t *testing.T) {
	plain := pack(t, member{name: "f", content: "x"})
	packings := map[string]func(io.Writer) (io.WriteCloser, error){
		"gz": func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		"xz": func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
	}
	for name, packing := range packings {
		var out bytes.Buffer
		w, err := packing(&out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(plain); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := read(t, out.Bytes()).ReadFile("f"); err != nil || string(got) != "x" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		if _, err := Read(t.Context(), bytes.NewReader(out.Bytes()[:out.Len()/2])); err == nil {
			t.Errorf("%s: half an archive is accepted", name)
		}
	}
}

// A member that climbs out lands at the root, and no link leads outside.
func TestHostilePaths(t *testing.T) {
	files := read(t, pack(t,
		member{name: "../../etc/passwd", content: "inside"},
		member{name: "/abs", content: "absolute"},
		member{name: "up", link: "../../../../../etc/passwd", kind: tar.TypeSymlink},
		member{name: "root", link: "/etc", kind: tar.TypeSymlink},
		member{name: "loop", link: "loop2", kind: tar.TypeSymlink},
		member{name: "loop2", link: "loop", kind: tar.TypeSymlink},
		member{name: "sub/etc/passwd", content: "of sub"},
		member{name: "sub/up", link: "../etc/passwd", kind: tar.TypeSymlink},
		// A member below a link must not be written through it.
		member{name: "through", link: "sub", kind: tar.TypeSymlink},
		member{name: "through/etc/passwd", content: "not of sub"},
		member{name: "gone", link: "../../etc/shadow", kind: tar.TypeLink},
	))
	for name, want := range map[string]string{
		"etc/passwd": "inside", "abs": "absolute", "up": "inside", "root/passwd": "inside",
		"sub/etc/passwd": "of sub", "sub/up": "inside", "through/etc/passwd": "not of sub",
	} {
		if got, err := files.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := files.ReadFile("loop"); !errors.Is(err, errLoop) {
		t.Errorf("loop: got %v, want %v", err, errLoop)
	}
	if _, err := files.Stat("gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a hard link to nothing is kept: %v", err)
	}
	sub, err := files.Sub("sub")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fs.ReadFile(sub, "up"); err != nil || string(got) != "of sub" {
		t.Errorf("a link led out of sub: %q, %v", got, err)
	}
}

func TestReadLimits(t *testing.T) {
	files := read(t, pack(t, member{name: "large", content: strings.Repeat("x", maxFile+1)}, member{name: "small", content: "x"}))
	if _, err := files.ReadFile("large"); !errors.Is(err, errTooLarge) {
		t.Errorf("large: got %v, want %v", err, errTooLarge)
	}
	if got, err := files.ReadFile("small"); err != nil || string(got) != "x" {
		t.Errorf("small: got %q, %v", got, err)
	}

	deep := pack(t, member{name: strings.Repeat("d/", maxDepth+1) + "f"})
	if _, err := Read(t.Context(), bytes.NewReader(deep)); err == nil || !strings.Contains(err.Error(), "folders in one another") {
		t.Errorf("deep: got %v", err)
	}

	bomb := io.MultiReader(bytes.NewReader(header(t, "zeros", maxUnpacked*2)), zeros{})
	if _, err := Read(t.Context(), bomb); err == nil {
		t.Error("a bomb is accepted")
	}
}

func header(t *testing.T, name string, size int64) []byte {
	var out bytes.Buffer
	if err := tar.NewWriter(&out).WriteHeader(&tar.Header{Name: name, Size: size, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestReadRefusesWhatIsNoArchive(t *testing.T) {
	for _, content := range []string{"", "hello", "{}", strings.Repeat("\x00", 1024)} {
		if _, err := Read(t.Context(), strings.NewReader(content)); !errors.Is(err, errNotArchive) {
			t.Errorf("%.10q: got %v, want %v", content, err, errNotArchive)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(pack(f, member{name: "a/b", content: "x"}, member{name: "l", link: "../a", kind: tar.TypeSymlink}))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := Read(t.Context(), bytes.NewReader(data))
		if err != nil {
			return
		}
		err = fs.WalkDir(files, ".", func(name string, _ fs.DirEntry, err error) error {
			if err == nil && !fs.ValidPath(name) {
				err = fmt.Errorf("%q is not a path", name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}
