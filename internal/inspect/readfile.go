package inspect

import (
	"errors"
	"io/fs"
	"syscall"
)

// maxFile bounds what is read of one file: no control or proc file is as long,
// and a captured node may hold anything.
const maxFile = 4 << 20

// readFile is os.ReadFile for many small files: it neither stats nor polls
// them, which halves the cost, and it never waits for the writer of a pipe that
// stands in a file's place.
func readFile(path string) ([]byte, error) {
	fd, err := open(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd)
	var buffer [4096]byte
	var all []byte
	for len(all) < maxFile {
		n, err := syscall.Read(fd, buffer[:])
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return all, &fs.PathError{Op: "read", Path: path, Err: err}
		case n <= 0:
			return all, nil
		}
		all = append(all, buffer[:n]...)
	}
	return all, nil
}

func open(path string) (fd int, err error) {
	for {
		fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
		if !errors.Is(err, syscall.EINTR) {
			return fd, err
		}
	}
}
