// Package archive reads a tar archive of a node's files into memory and offers
// it as a file system. Nothing is ever written to disk, links lead nowhere but
// inside the archive, and hostile archives hit limits, not the machine.
//
//	files, err := archive.Read(ctx, reader)
//	data, err := fs.ReadFile(files, "proc/meminfo")
package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/ulikunitz/xz"
)

// Limits of an archive. The largest captures known, of 512 CPUs with all of
// /sys/devices, hold some 200000 files and 40 MiB.
const (
	// maxFile is the most that one file may hold to be kept; a larger one is
	// passed over and reading it fails.
	maxFile = 16 << 20
	// maxKept is the most that all files together may hold.
	maxKept = 256 << 20
	// maxUnpacked is the most that the archive may unpack to, kept or not: the
	// guard against bombs.
	maxUnpacked = 1 << 30
	// maxEntries is the most files, folders and links.
	maxEntries = 1 << 20
	// maxDepth is the most folders in one another.
	maxDepth = 64
)

// errNotArchive is returned for content that is no tar archive, packed or not.
var errNotArchive = errors.New("not a tar archive, plain or packed with gzip, bzip2 or xz")

// Unpack undoes gzip, bzip2 or xz, told by the first bytes; other content
// passes as it is.
func Unpack(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	head, _ := in.Peek(6)
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return gzip.NewReader(in)
	case bytes.HasPrefix(head, []byte("BZh")):
		return bzip2.NewReader(in), nil
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		// 64 MiB is the dictionary of xz -9; more would let a small file take
		// much memory.
		return xz.ReaderConfig{DictCap: 64 << 20}.NewReader(in)
	}
	return in, nil
}

// Read reads a tar archive, packed or not, to its end.
func Read(ctx context.Context, r io.Reader) (*FS, error) {
	unpacked, err := Unpack(r)
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	_, plain := unpacked.(*bufio.Reader)
	counted := &io.LimitedReader{R: unpacked, N: maxUnpacked}
	b := builder{root: newFolder(nil)}
	members := tar.NewReader(counted)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, err := members.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if counted.N <= 0 {
			return nil, fmt.Errorf("unpacks to more than %d MiB", maxUnpacked>>20)
		}
		if b.entries == 0 && (errors.Is(err, tar.ErrHeader) || plain && errors.Is(err, io.ErrUnexpectedEOF)) {
			return nil, errNotArchive
		}
		if err == nil {
			err = b.add(h, members)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the archive after %d members: %w", b.entries, err)
		}
	}
	if b.entries == 0 {
		return nil, errNotArchive
	}
	return &FS{root: b.root}, nil
}

// builder puts members of an archive into a tree.
type builder struct {
	root          *file
	entries, kept int
}

func (b *builder) add(h *tar.Header, content io.Reader) error {
	name := strings.TrimPrefix(path.Clean("/"+h.Name), "/")
	if name == "" {
		return nil
	}
	switch h.Typeflag {
	case tar.TypeDir:
		_, err := b.folder(name)
		return err
	case tar.TypeReg, tar.TypeGNUSparse:
		f := &file{}
		// Sysfs claims a page for files of a few bytes; what counts is what comes.
		data, err := io.ReadAll(io.LimitReader(content, maxFile+1))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if f.data = data; len(data) > maxFile {
			f.data, f.tooLarge = nil, true
		}
		if b.kept += len(f.data); b.kept > maxKept {
			return fmt.Errorf("%s: files of more than %d MiB in all", name, maxKept>>20)
		}
		return b.put(name, f)
	case tar.TypeSymlink:
		return b.put(name, &file{link: h.Linkname})
	case tar.TypeLink:
		target := strings.TrimPrefix(path.Clean("/"+h.Linkname), "/")
		if t, err := (&FS{root: b.root}).find(target, false); err == nil && t.children == nil {
			return b.put(name, &file{data: t.data, link: t.link, tooLarge: t.tooLarge})
		}
	}
	return nil // devices, pipes and links to what is not there hold nothing
}

// put places the file; what stood there before, as in tar, is replaced, but a
// folder with content stays.
func (b *builder) put(name string, f *file) error {
	dir, err := b.folder(path.Dir(name))
	if err != nil {
		return err
	}
	if old := dir.children[path.Base(name)]; old != nil && len(old.children) > 0 {
		return nil
	}
	f.parent = dir
	dir.children[path.Base(name)] = f
	return b.count()
}

// folder finds or makes the folder. It never follows a link: a member below a
// link replaces the link, so that no member lands outside its own path.
func (b *builder) folder(name string) (*file, error) {
	dir := b.root
	if name == "." {
		return dir, nil
	}
	parts := strings.Split(name, "/")
	if len(parts) > maxDepth {
		return nil, fmt.Errorf("%.80s…: more than %d folders in one another", name, maxDepth)
	}
	for _, part := range parts {
		next := dir.children[part]
		if next == nil || next.children == nil {
			next = newFolder(dir)
			dir.children[part] = next
			if err := b.count(); err != nil {
				return nil, err
			}
		}
		dir = next
	}
	return dir, nil
}

func (b *builder) count() error {
	if b.entries++; b.entries > maxEntries {
		return fmt.Errorf("more than %d files", maxEntries)
	}
	return nil
}
