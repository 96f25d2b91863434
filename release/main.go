// Command release makes what users install: static binaries in archives, packages
// of Debian and of RPM, a container image, the manifest of a kubectl plugin, bills of
// materials, and the checksums of all. It makes them of the commit that is checked
// out, and the same bytes each time.
//
//	go run . -root .. -out ../dist
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// release is one version of kqos, and the folder for what is made of it.
type release struct {
	// source is a checkout of the commit.
	source, out string
	// version is a semantic one without its v: that of the tag, else Go's
	// pseudo-version.
	version string
	// made is the time of the commit, which all files bear.
	made     time.Time
	binaries []binary
	texts    []text
}

func main() {
	root := flag.String("root", "..", "the repository, whose checked out commit is released")
	out := flag.String("out", "../dist", "folder to write to; it must be empty or absent")
	targets := flag.String("targets", "linux/amd64,linux/arm64,darwin/arm64", "operating systems and architectures")
	flag.Parse()
	if err := run(*root, *out, strings.Split(*targets, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(root, out string, targets []string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if left, err := os.ReadDir(out); err != nil {
		return err
	} else if len(left) > 0 {
		return fmt.Errorf("%s is not empty: remove it first, as its checksums are of this release alone", out)
	}
	work, err := os.MkdirTemp("", "kqos-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r := &release{source: filepath.Join(work, "source"), out: out}
	if err := checkout(root, r.source); err != nil {
		return err
	}
	if err := r.build("./cmd/kqos", work, targets); err != nil {
		return err
	}
	if err := r.describe(); err != nil {
		return err
	}
	return r.write()
}

// write makes all files, the checksums last.
func (r *release) write() error {
	var archives []packed
	for _, b := range r.binaries {
		archive, err := r.archive(b)
		if err != nil {
			return fmt.Errorf("packing the archive of %s: %w", b, err)
		}
		archives = append(archives, archive)
		if err := r.bill(b); err != nil {
			return fmt.Errorf("listing the materials of %s: %w", b, err)
		}
		if b.os != "linux" {
			continue
		}
		if err := errors.Join(r.pack(b, "deb"), r.pack(b, "rpm")); err != nil {
			return fmt.Errorf("packing %s: %w", b, err)
		}
	}
	if err := r.image(); err != nil {
		return fmt.Errorf("making the image: %w", err)
	}
	if err := r.plugin(archives); err != nil {
		return fmt.Errorf("making the manifest of krew: %w", err)
	}
	return r.checksums()
}

// create writes one file of the release.
func (r *release) create(name string, data []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}
