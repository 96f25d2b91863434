package inspect

import (
	"slices"

	"golang.org/x/sys/unix"
)

// kernels tells whether a folder is a v2 hierarchy of a running kernel, and not a
// copy of one.
func kernels(mount string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(mount, &fs) == nil && int64(fs.Type) == unix.CGROUP2_SUPER_MAGIC //nolint:unconvert // narrower on some systems
}

// closeAll closes files, those with neighbouring numbers at once: all numbers
// from the first to the last of them are theirs, whatever else this process opens
// meanwhile.
func closeAll(fds []int) {
	slices.Sort(fds)
	for len(fds) > 0 {
		n := 1
		for n < len(fds) && fds[n] == fds[n-1]+1 {
			n++
		}
		// Linux before 5.9 has no close_range.
		if unix.CloseRange(uint(fds[0]), uint(fds[n-1]), 0) != nil {
			for _, fd := range fds[:n] {
				unix.Close(fd)
			}
		}
		fds = fds[n:]
	}
}
