package inspect

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// maxFile bounds what is read of one file: no control or proc file is as long,
// and a captured node may hold anything.
const maxFile = 4 << 20

// readFile is os.ReadFile for many small files: it neither stats nor polls
// them, which halves the cost, and it never waits for the writer of a pipe that
// stands in a file's place.
func readFile(path string) ([]byte, error) {
	fd, err := open(unix.AT_FDCWD, path, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var buffer [pageSize]byte
	text, err := readAll(fd, buffer[:], false)
	if err != nil {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return text, err
}

// pageSize is what the kernel hands over of a control file at once: it fits in.
const pageSize = 4096

// readAll reads an open file through a buffer; the text may lie in it, until the
// next read. The kernel hands a file of one record, as control files other than
// cgroup.procs are, over as far as the buffer goes: a short read of one is the
// whole.
func readAll(fd int, buffer []byte, oneRecord bool) ([]byte, error) {
	var all []byte
	for len(all) < maxFile {
		n, err := unix.Read(fd, buffer)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return all, err
		case n <= 0:
			return all, nil
		case oneRecord && n < len(buffer) && len(all) == 0:
			return buffer[:n], nil
		}
		all = append(all, buffer[:n]...)
		if oneRecord && n < len(buffer) {
			return all, nil
		}
	}
	return all, nil
}

func open(folder int, path string, flags int) (fd int, err error) {
	for {
		fd, err = unix.Openat(folder, path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}
