package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// member is a file in an archive.
type member struct {
	data []byte
	mode int64
}

// tarball packs members, sorted by name and all of one time and owner.
func tarball(members map[string]member, made time.Time) ([]byte, error) {
	var packed bytes.Buffer
	out := tar.NewWriter(&packed)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		m := members[name]
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: m.mode, Size: int64(len(m.data)), ModTime: made}
		if err := out.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := out.Write(m.data); err != nil {
			return nil, err
		}
	}
	err := out.Close()
	return packed.Bytes(), err
}

// compressed is what gzip makes of data, without a name or a time.
func compressed(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return packed.Bytes(), err
}

// packed is an archive that was written.
type packed struct {
	binary    binary
	name, sum string
}

// archive packs the binary and its texts for those who install by hand, and for
// krew.
func (r *release) archive(b binary) (packed, error) {
	program, err := os.ReadFile(b.path)
	if err != nil {
		return packed{}, err
	}
	members := map[string]member{"kqos": {program, 0o755}}
	for _, t := range r.texts {
		if t.archived != "" {
			members[t.archived] = member{t.data, int64(t.mode())}
		}
	}
	plain, err := tarball(members, r.made)
	if err != nil {
		return packed{}, err
	}
	data, err := compressed(plain)
	if err != nil {
		return packed{}, err
	}
	made := packed{b, r.name(b) + ".tar.gz", sum(data)}
	return made, r.create(made.name, data)
}

func sum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

// checksums lists the SHA-256 of all files, as sha256sum -c reads it.
func (r *release) checksums() error {
	files, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(r.out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%s  %s\n", sum(data), f.Name())
	}
	return r.create("SHA256SUMS", []byte(list.String()))
}
