package inspect

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// folder is the open folder of the cgroup that was read last in one hierarchy:
// its many files are found from there without another walk along the path.
type folder struct {
	path string
	fd   int
}

// maxUnclosed is how many files that were read wait to be closed together, which
// costs half of closing each.
const maxUnclosed = 64

// control reads one control file of a cgroup, without its final newline.
func (h *Hierarchy) control(mount, path, file string) (string, error) {
	fd, err := h.openControl(mount, path, file)
	if err != nil {
		return "", err
	}
	if h.unclosed = append(h.unclosed, fd); len(h.unclosed) == maxUnclosed {
		defer h.closeRead()
	}
	text, err := readAll(fd, h.buffer[:], true)
	return string(bytes.TrimSuffix(text, []byte("\n"))), err
}

// closeRead closes the files that were read.
func (h *Hierarchy) closeRead() {
	closeAll(h.unclosed)
	h.unclosed = h.unclosed[:0]
}

func (h *Hierarchy) openControl(mount, path, file string) (fd int, err error) {
	dir, ok := h.opened[mount]
	if !ok || dir.path != path {
		if ok {
			unix.Close(dir.fd)
			delete(h.opened, mount)
		}
		fd, err := open(unix.AT_FDCWD, mount+path, unix.O_DIRECTORY)
		if err != nil {
			return -1, err
		}
		dir = folder{path, fd}
		h.opened[mount] = dir
	}
	return open(dir.fd, file, 0)
}

// keptFiles are files of figures that stay open from one look to the next: to
// read one again costs a third of opening it.
type keptFiles struct {
	// at holds the descriptors by cgroup and file, -1 for a file that is not
	// there.
	at map[keptPlace]map[string]int
	// left is how many more may be opened.
	left int
}

type keptPlace struct{ mount, path string }

// Keep leaves up to limit files of figures open for later looks, until [Close].
func (h *Hierarchy) Keep(limit int) {
	h.kept = &keptFiles{at: map[keptPlace]map[string]int{}, left: limit}
}

// figure is Read for the files of figures, which Keep leaves open.
func (h *Hierarchy) figure(path, key string) (string, error) {
	mount, file, err := h.place(path, key)
	if err != nil || h.kept == nil {
		return h.Read(path, key)
	}
	place := keptPlace{mount, path}
	fd, known := h.kept.at[place][file]
	if !known {
		if h.kept.left <= 0 {
			return h.Read(path, key)
		}
		if fd, err = h.openControl(mount, path, file); err != nil {
			fd = -1
		}
		h.kept.put(place, file, fd)
	}
	if fd < 0 {
		return "", os.ErrNotExist
	}
	text, err := h.readAgain(fd)
	if err != nil {
		h.Forget(path)
		err = fmt.Errorf("reading %s of cgroup %s: %w", key, path, err)
		h.note(err)
	}
	return text, err
}

func (k *keptFiles) put(place keptPlace, file string, fd int) {
	if k.at[place] == nil {
		k.at[place] = map[string]int{}
	}
	k.at[place][file] = fd
	if fd >= 0 {
		k.left--
	}
}

// readAgain reads a file from its beginning; one of figures is never longer than
// the buffer.
func (h *Hierarchy) readAgain(fd int) (string, error) {
	for {
		n, err := unix.Pread(fd, h.buffer[:], 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return strings.TrimSuffix(string(h.buffer[:max(n, 0)]), "\n"), err
	}
}

// recheck has figure look again for files of a cgroup that were not there.
func (h *Hierarchy) recheck(path string) {
	if h.kept == nil {
		return
	}
	for _, mount := range h.roots {
		maps.DeleteFunc(h.kept.at[keptPlace{mount, path}], func(_ string, fd int) bool { return fd < 0 })
	}
}

// Forget closes the files of a cgroup that Keep left open.
func (h *Hierarchy) Forget(path string) {
	if h.kept == nil {
		return
	}
	for _, mount := range h.roots {
		place := keptPlace{mount, path}
		for _, fd := range h.kept.at[place] {
			if fd >= 0 {
				unix.Close(fd)
				h.kept.left++
			}
		}
		delete(h.kept.at, place)
	}
}

// release closes all but what Keep leaves open.
func (h *Hierarchy) release() {
	h.closeRead()
	for _, dir := range h.opened {
		unix.Close(dir.fd)
	}
	clear(h.opened)
}

// Close releases what reading keeps open. The hierarchy may be read again.
func (h *Hierarchy) Close() {
	h.release()
	if h.kept == nil {
		return
	}
	for place := range h.kept.at {
		h.Forget(place.path)
	}
}
