//go:build !linux

package inspect

import "golang.org/x/sys/unix"

// closeAll closes files.
func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
