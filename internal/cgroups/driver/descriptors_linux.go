package driver

import (
	"os"

	oc "github.com/opencontainers/cgroups"
	"golang.org/x/sys/unix"
)

// spare is how many descriptors are left to the rest of the process (manifests,
// sockets, D-Bus, metrics).
const spare = 256

// descriptors keeps control files open, so that a tick with nothing to do costs
// one pread per file. Beyond the limit of open files each read opens anew.
type descriptors struct {
	open map[string]*os.File
	max  int
	buf  []byte
}

func newDescriptors() descriptors {
	d := descriptors{open: map[string]*os.File{}, buf: make([]byte, 4096)}
	var limit unix.Rlimit
	// The Go runtime has raised the soft limit to the hard one already.
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err == nil && limit.Cur > spare {
		d.max = int(min(limit.Cur-spare, 1<<20))
	}
	return d
}

// read gives the content of a control file and whether it had to be opened.
func (d *descriptors) read(folder, file string) (text string, opened bool, err error) {
	name := folder + "/" + file
	if f, ok := d.open[name]; ok {
		if text, err = d.pread(f); err == nil {
			return text, false, nil
		}
		// The cgroup was removed; another may stand there now.
		_ = f.Close()
		delete(d.open, name)
	}
	f, err := oc.OpenFile(folder, file, os.O_RDONLY)
	if err != nil {
		return "", true, err
	}
	text, err = d.pread(f)
	if err != nil || len(d.open) >= d.max {
		_ = f.Close()
		return text, true, err
	}
	d.open[name] = f
	return text, true, nil
}

// pread reads a control file from its start; the kernel answers a read of one
// page with all of it.
func (d *descriptors) pread(f *os.File) (string, error) {
	for n := 0; ; {
		got, err := unix.Pread(int(f.Fd()), d.buf[n:], int64(n))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return "", &os.PathError{Op: "read", Path: f.Name(), Err: err}
		case got == 0 || n+got < len(d.buf):
			return string(d.buf[:n+got]), nil
		}
		n += got
		d.buf = append(d.buf, make([]byte, len(d.buf))...)
	}
}

func (d *descriptors) close() {
	for name, f := range d.open {
		_ = f.Close()
		delete(d.open, name)
	}
}
