package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// made is the release that the tests read: all files of it as users download them,
// made of what stands in the repository.
var made release

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kqos-release-test-")
	if err == nil {
		err = makeOnce(dir)
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// makeOnce builds the binary of this platform. Those of others are a few bytes, which
// are packed faster; the bill is that of the one.
func makeOnce(dir string) error {
	path := filepath.Join(dir, "kqos")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "./cmd/kqos")
	build.Dir, build.Stderr = "..", os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := build.Run(); err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	made = release{
		source: "..", out: filepath.Join(dir, "dist"), version: "1.2.3-rc.1",
		made: time.Date(2026, 11, 29, 12, 0, 1, 0, time.UTC),
	}
	for _, target := range []string{"linux/amd64", "linux/arm64", "darwin/arm64"} {
		b := binary{path: path, info: info}
		b.os, b.arch, _ = strings.Cut(target, "/")
		if b.os != runtime.GOOS || b.arch != runtime.GOARCH {
			b.path += "-" + b.os + "-" + b.arch
			if err := os.WriteFile(b.path, []byte("a program for "+target), 0o755); err != nil {
				return err
			}
		}
		made.binaries = append(made.binaries, b)
	}
	return errors.Join(os.Mkdir(made.out, 0o755), made.describe(), made.write())
}

// file reads one file of the release.
func file(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(made.out, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// program is the binary for a platform.
func program(t *testing.T, system, arch string) []byte {
	t.Helper()
	for _, b := range made.binaries {
		if b.os != system || b.arch != arch {
			continue
		}
		data, err := os.ReadFile(b.path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	t.Fatalf("no binary is for %s/%s", system, arch)
	return nil
}

// entry is what a reader finds in an archive or a package.
type entry struct {
	mode fs.FileMode
	link string
	data []byte
}

// entries reads a tar archive, each of whose members has the time of the release and
// belongs to root.
func entries(t *testing.T, from io.Reader) map[string]entry {
	t.Helper()
	found := map[string]entry{}
	for in := tar.NewReader(from); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(made.made) || h.Uid != 0 || h.Gid != 0 {
			t.Errorf("%s is of %s and belongs to %d:%d", h.Name, h.ModTime, h.Uid, h.Gid)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		found[h.Name] = entry{h.FileInfo().Mode(), h.Linkname, data}
	}
}

func unpacked(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// modes are the names with what ls -l shows, without the many man pages.
func modes(found map[string]entry) string {
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if strings.Contains(name, "/man1/kqos-") {
			continue
		}
		e := found[name]
		fmt.Fprintf(&list, "%v %s", e.mode, name)
		if e.link != "" {
			fmt.Fprintf(&list, " -> %s", e.link)
		}
		list.WriteByte('\n')
	}
	return list.String()
}

func TestFiles(t *testing.T) {
	const want = `SHA256SUMS
kqos-1.2.3~rc.1-1.aarch64.rpm
kqos-1.2.3~rc.1-1.x86_64.rpm
kqos.krew.yaml
kqos_1.2.3-rc.1_darwin_arm64.cdx.json
kqos_1.2.3-rc.1_darwin_arm64.tar.gz
kqos_1.2.3-rc.1_image.tar
kqos_1.2.3-rc.1_linux_amd64.cdx.json
kqos_1.2.3-rc.1_linux_amd64.tar.gz
kqos_1.2.3-rc.1_linux_arm64.cdx.json
kqos_1.2.3-rc.1_linux_arm64.tar.gz
kqos_1.2.3~rc.1_amd64.deb
kqos_1.2.3~rc.1_arm64.deb`
	files, err := os.ReadDir(made.out)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	if diff := cmp.Diff(want, strings.Join(names, "\n")); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestSums checks each file of the release against the list, as sha256sum -c does.
func TestSums(t *testing.T) {
	files, err := os.ReadDir(made.out)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{"SHA256SUMS": true}
	for line := range strings.Lines(string(file(t, "SHA256SUMS"))) {
		digest, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = true
		if got := sum(file(t, name)); got != digest {
			t.Errorf("%s has %s, listed is %s", name, got, digest)
		}
	}
	for _, f := range files {
		if !listed[f.Name()] {
			t.Errorf("%s is not listed", f.Name())
		}
	}
}

// TestSameAgain makes a release twice, at other times and in other folders. The
// programs are a few bytes, as all are packed alike.
func TestSameAgain(t *testing.T) {
	program := filepath.Join(t.TempDir(), "kqos")
	if err := os.WriteFile(program, []byte("a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	var sums []string
	for range 2 {
		again := made
		again.out, again.texts, again.binaries = t.TempDir(), nil, slices.Clone(made.binaries)
		for i := range again.binaries {
			again.binaries[i].path = program
		}
		if err := errors.Join(again.describe(), again.write()); err != nil {
			t.Fatal(err)
		}
		list, err := os.ReadFile(filepath.Join(again.out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(list))
	}
	if diff := cmp.Diff(sums[0], sums[1]); diff != "" {
		t.Errorf("the second time other bytes (-first +second):\n%s", diff)
	}
}
