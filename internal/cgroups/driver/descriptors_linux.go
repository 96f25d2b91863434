package driver

import (
	"os"

	oc "github.com/opencontainers/cgroups"
	"golang.org/x/sys/unix"

	"github.com/kqos/kqos/internal/cgroups"
)

// spare is how many descriptors are left to the rest of the process (manifests,
// sockets, D-Bus, metrics).
const spare = 256

// sweepFrom is a small node's number of files.
const sweepFrom = 512

// descriptors keeps control files open, so that a tick with nothing to do costs
// one pread per file. Beyond the limit of open files each read opens anew.
type descriptors struct {
	// groups are by cgroup path.
	groups map[string]*group
	open   int
	max    int
	// sweepAt is how many open files make it look for cgroups that are gone.
	sweepAt int
	buf     []byte
}

// group is a cgroup as it was read last. Its live map is shared with those who
// read it and replaced, not changed, when a file reads otherwise.
type group struct {
	files map[string]*os.File
	live  cgroups.Live
}

func newDescriptors() descriptors {
	d := descriptors{groups: map[string]*group{}, sweepAt: sweepFrom, buf: make([]byte, 4096)}
	var limit unix.Rlimit
	// The Go runtime has raised the soft limit to the hard one already.
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err == nil && limit.Cur > spare {
		d.max = int(min(limit.Cur-spare, 1<<20))
	}
	return d
}

// again reads a cgroup from open files only and tells whether that answers for
// all the files of cg, each as it was.
func (d *descriptors) again(cg *cgroups.Cgroup) (cgroups.Live, bool) {
	g, ok := d.groups[cg.Path]
	// Without a file that answers, nothing tells that the cgroup is still there.
	if !ok || len(cg.Files)+len(cg.Unknown) == 0 {
		return cgroups.Live{}, false
	}
	for key := range cg.Files {
		if !d.same(g, key) {
			return cgroups.Live{}, false
		}
	}
	for key := range cg.Unknown {
		if !d.same(g, key) {
			return cgroups.Live{}, false
		}
	}
	return g.live, true
}

func (d *descriptors) same(g *group, key string) bool {
	f, ok := g.files[key]
	if !ok {
		return false
	}
	text, err := d.pread(f)
	return err == nil && string(trim(text)) == g.live.Files[key]
}

// reread reads a v2 control file that is likely open already. Where the cgroup is
// another by now, the old file answers ENODEV.
func (d *descriptors) reread(path, folder, file string) (string, error) {
	if g, ok := d.groups[path]; ok && g.files[file] != nil {
		if text, err := d.pread(g.files[file]); err == nil {
			return string(trim(text)), nil
		}
		_ = g.files[file].Close()
		delete(g.files, file)
		d.open--
	}
	return d.read(path, file, folder, file)
}

// read opens a control file, reads it, and keeps it open if it may.
func (d *descriptors) read(path, key, folder, file string) (string, error) {
	if d.open >= d.sweepAt {
		d.sweep()
	}
	f, err := oc.OpenFile(folder, file, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	text, err := d.pread(f)
	if err != nil || path == "" || d.open >= d.max {
		_ = f.Close()
		return string(trim(text)), err
	}
	g, ok := d.groups[path]
	if !ok {
		g = &group{files: map[string]*os.File{}}
		d.groups[path] = g
	}
	g.files[key] = f
	d.open++
	return string(trim(text)), nil
}

// pread reads a control file from its start; the kernel answers a read of one
// page with all of it. The text is valid until the next read.
func (d *descriptors) pread(f *os.File) ([]byte, error) {
	for n := 0; ; {
		got, err := unix.Pread(int(f.Fd()), d.buf[n:], int64(n))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, &os.PathError{Op: "read", Path: f.Name(), Err: err}
		case got == 0 || n+got < len(d.buf):
			return d.buf[:n+got], nil
		}
		n += got
		d.buf = append(d.buf, make([]byte, len(d.buf))...)
	}
}

// forget closes the files of a cgroup.
func (d *descriptors) forget(path string) {
	if g, ok := d.groups[path]; ok {
		d.closeGroup(g)
		delete(d.groups, path)
	}
}

// sweep closes the files of cgroups that are gone: another may have removed them,
// and nobody reads them again. It is done anew when twice as many are open.
func (d *descriptors) sweep() {
	for path, g := range d.groups {
		for _, f := range g.files {
			if _, err := unix.Pread(int(f.Fd()), d.buf[:1], 0); err == unix.ENODEV {
				d.forget(path)
			}
			break // one tells of all
		}
	}
	d.sweepAt = max(sweepFrom, 2*d.open)
	if d.open < d.max {
		d.sweepAt = min(d.sweepAt, d.max)
	}
}

func (d *descriptors) closeGroup(g *group) {
	for _, f := range g.files {
		_ = f.Close()
		d.open--
	}
}

func (d *descriptors) close() {
	for at, g := range d.groups {
		d.closeGroup(g)
		delete(d.groups, at)
	}
}

func trim(text []byte) []byte {
	if n := len(text); n > 0 && text[n-1] == '\n' {
		return text[:n-1]
	}
	return text
}
