// Package collect packs what kqos reads of a node into one archive, so that
// every command answers elsewhere as it would there. What goes in is on a list;
// environments, tokens and pod specs are not, and files that may hold some are
// cut down to what is read of them.
//
//	c, err := collect.Read(ctx, collect.Options{Root: "/", Config: "/var/lib/kubelet/config.yaml"})
//	err = c.Write(out)
package collect

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kqos/kqos/internal/launch"
)

// maxFile is more than any file on the list has; one beyond it is something
// else.
const maxFile = 4 << 20

// Options say where to look.
type Options struct {
	// Root is the prefix of the host's files.
	Root string
	// Config and ConfigDir are the kubelet's configuration, as paths below Root;
	// empty for what the host's kubelet is told.
	Config, ConfigDir string
}

// Entry is one member of the archive.
type Entry struct {
	// Path below the root, without a slash in front.
	Path string `json:"path"`
	// Bytes is the size of its content.
	Bytes int `json:"bytes"`
	// Link is where a symbolic link leads.
	Link string `json:"link,omitempty"`

	folder  bool
	content []byte
}

// Collection is what an archive will hold, sorted by path.
type Collection struct {
	Entries []Entry
	// Notes say what was left out or cut down, and why.
	Notes []string

	root string
	// kubelet is how the host's is started, nil where it has none.
	kubelet *launch.Kubelet
	seen    map[string]bool
	// units are those of systemd whose cgroups are collected.
	units []string
}

// Read collects the node's files. What is not there is left out, what can't be
// read is noted; the error is the context's.
func Read(ctx context.Context, o Options) (*Collection, error) {
	c := &Collection{root: o.Root, kubelet: launch.Find(o.Root), seen: map[string]bool{}}
	for _, pattern := range patterns() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.glob(pattern)
	}
	c.addReduced(o)
	if err := c.addCgroups(ctx); err != nil {
		return nil, err
	}
	c.addUnits(ctx)
	slices.SortFunc(c.Entries, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	return c, nil
}

// glob adds all that a pattern of paths below the root matches.
func (c *Collection) glob(pattern string) {
	// The patterns are constants without faults, which is the only error.
	matches, _ := filepath.Glob(filepath.Join(c.root, c.rooted(pattern)))
	for _, match := range matches {
		name, err := filepath.Rel(c.root, match)
		if err != nil {
			continue
		}
		c.add(filepath.ToSlash(name))
	}
}

// rooted puts the kubelet's own root directory in the place of the usual one.
func (c *Collection) rooted(name string) string {
	below, ok := strings.CutPrefix("/"+name, launch.DefaultRootDir)
	if !ok || c.kubelet == nil {
		return name
	}
	return strings.TrimPrefix(path.Join(c.kubelet.RootDir, below), "/")
}

// add adds a file with its content, a folder, or a relative link.
func (c *Collection) add(name string) {
	file := filepath.Join(c.root, name)
	info, err := os.Lstat(file)
	switch {
	case err != nil:
		return // it vanished
	case info.IsDir():
		c.put(Entry{Path: name, folder: true})
	case info.Mode()&fs.ModeSymlink != 0:
		if target, err := os.Readlink(file); err == nil && !path.IsAbs(target) {
			c.put(Entry{Path: name, Link: target})
		}
	case info.Mode().IsRegular() && info.Mode().Perm()&0o444 != 0:
		// What nobody may read is a file to write to.
		if text, ok := c.text(name); ok {
			c.put(Entry{Path: name, content: text})
		}
	}
}

// text reads a file. One that the kernel offers for writing only is passed over
// in silence, as is one that vanished.
func (c *Collection) text(name string) ([]byte, bool) {
	f, err := os.Open(filepath.Join(c.root, name))
	if err != nil {
		if os.IsPermission(err) {
			c.note("%s: may not be read", name)
		}
		return nil, false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, false
	}
	if len(text) > maxFile {
		c.note("%s: left out, larger than %d MiB", name, maxFile>>20)
		return nil, false
	}
	return text, true
}

func (c *Collection) put(e Entry) {
	if c.seen[e.Path] {
		return
	}
	c.seen[e.Path] = true
	e.Bytes = len(e.content)
	c.Entries = append(c.Entries, e)
}

func (c *Collection) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// Bytes is the size of all content, unpacked.
func (c *Collection) Bytes() int {
	sum := 0
	for _, e := range c.Entries {
		sum += e.Bytes
	}
	return sum
}

// Write packs the collection with gzip. The same files give the same bytes:
// members are sorted and bear no times and owners.
func (c *Collection) Write(w io.Writer) error {
	packed := gzip.NewWriter(w)
	out := tar.NewWriter(packed)
	for _, e := range c.Entries {
		h := &tar.Header{Name: e.Path, Mode: 0o444, Size: int64(len(e.content)), ModTime: time.Unix(0, 0), Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		switch {
		case e.folder:
			h.Typeflag, h.Mode, h.Name = tar.TypeDir, 0o755, strings.TrimSuffix(e.Path, "/")+"/"
		case e.Link != "":
			h.Typeflag, h.Linkname = tar.TypeSymlink, e.Link
		}
		if err := out.WriteHeader(h); err != nil {
			return fmt.Errorf("packing %s: %w", e.Path, err)
		}
		if _, err := out.Write(e.content); err != nil {
			return fmt.Errorf("packing %s: %w", e.Path, err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("packing: %w", err)
	}
	if err := packed.Close(); err != nil {
		return fmt.Errorf("packing: %w", err)
	}
	return nil
}
