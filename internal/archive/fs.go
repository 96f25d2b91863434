package archive

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// maxLinks is how many links may be followed for one name, as in the kernel.
const maxLinks = 40

var (
	errLoop     = errors.New("too many levels of links")
	errTooLarge = errors.New("too large to be kept")
)

// FS is the content of an archive. A link that points above the root, or is
// absolute, is followed from the root as in a chroot.
type FS struct{ root *file }

// file is a folder when children is not nil, a link when link is not empty.
type file struct {
	parent   *file
	children map[string]*file
	data     []byte
	link     string
	tooLarge bool
}

func newFolder(parent *file) *file {
	return &file{parent: parent, children: map[string]*file{}}
}

// find walks to the name; the last part is followed when it is a link, if asked.
func (f *FS) find(name string, follow bool) (*file, error) {
	at := f.root
	rest := strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == "..":
			if at != f.root && at.parent != nil {
				at = at.parent
			}
			continue
		case at.children == nil:
			return nil, fs.ErrNotExist
		}
		next := at.children[part]
		if next == nil {
			return nil, fs.ErrNotExist
		}
		if next.link == "" || len(rest) == 0 && !follow {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return nil, errLoop
		}
		if path.IsAbs(next.link) {
			at = f.root
		}
		rest = append(strings.Split(next.link, "/"), rest...)
	}
	return at, nil
}

func (f *FS) lookup(op, name string, follow bool) (*file, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	at, err := f.find(name, follow)
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return at, nil
}

// Sub is the folder as a file system of its own, out of which no link leads.
func (f *FS) Sub(dir string) (fs.FS, error) {
	at, err := f.lookup("sub", dir, true)
	if err != nil {
		return nil, err
	}
	if at.children == nil {
		return nil, &fs.PathError{Op: "sub", Path: dir, Err: errors.New("not a folder")}
	}
	return &FS{root: at}, nil
}

// ReadFile returns the content of the file.
func (f *FS) ReadFile(name string) ([]byte, error) {
	at, err := f.lookup("open", name, true)
	switch {
	case err != nil:
		return nil, err
	case at.children != nil:
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("is a folder")}
	case at.tooLarge:
		return nil, &fs.PathError{Op: "read", Path: name, Err: errTooLarge}
	}
	return bytes.Clone(at.data), nil
}

// ReadLink returns the target of the link.
func (f *FS) ReadLink(name string) (string, error) {
	at, err := f.lookup("readlink", name, false)
	if err == nil && at.link == "" {
		err = &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return "", err
	}
	return at.link, nil
}

// Stat describes the file that the name leads to.
func (f *FS) Stat(name string) (fs.FileInfo, error) { return f.stat(name, true) }

// Lstat describes the name itself, be it a link.
func (f *FS) Lstat(name string) (fs.FileInfo, error) { return f.stat(name, false) }

func (f *FS) stat(name string, follow bool) (fs.FileInfo, error) {
	at, err := f.lookup("stat", name, follow)
	if err != nil {
		return nil, err
	}
	return info{path.Base(name), at}, nil
}

// ReadDir lists the folder by name.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	at, err := f.lookup("open", name, true)
	if err != nil {
		return nil, err
	}
	if at.children == nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a folder")}
	}
	entries := make([]fs.DirEntry, 0, len(at.children))
	for _, name := range slices.Sorted(maps.Keys(at.children)) {
		entries = append(entries, fs.FileInfoToDirEntry(info{name, at.children[name]}))
	}
	return entries, nil
}

// Open opens the file for reading, or the folder for listing.
func (f *FS) Open(name string) (fs.File, error) {
	at, err := f.lookup("open", name, true)
	if err != nil {
		return nil, err
	}
	if at.children != nil {
		entries, err := f.ReadDir(name)
		return &openFolder{info: info{path.Base(name), at}, entries: entries}, err
	}
	if at.tooLarge {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errTooLarge}
	}
	return &openFile{Reader: bytes.NewReader(at.data), info: info{path.Base(name), at}}, nil
}

type openFile struct {
	*bytes.Reader
	info info
}

func (o *openFile) Stat() (fs.FileInfo, error) { return o.info, nil }
func (o *openFile) Close() error               { return nil }

type openFolder struct {
	info    info
	entries []fs.DirEntry
}

func (o *openFolder) Stat() (fs.FileInfo, error) { return o.info, nil }
func (o *openFolder) Close() error               { return nil }
func (o *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: o.info.name, Err: errors.New("is a folder")}
}

func (o *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 || n > len(o.entries) {
		if n > 0 && len(o.entries) == 0 {
			return nil, io.EOF
		}
		n = len(o.entries)
	}
	out := o.entries[:n]
	o.entries = o.entries[n:]
	return out, nil
}

// info describes a file by the name under which it was reached.
type info struct {
	name string
	file *file
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return int64(len(i.file.data)) }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.file.children != nil }
func (i info) Sys() any           { return nil }
func (i info) Mode() fs.FileMode {
	switch {
	case i.file.children != nil:
		return fs.ModeDir | 0o555
	case i.file.link != "":
		return fs.ModeSymlink | 0o777
	}
	return 0o444
}
