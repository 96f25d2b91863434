package inspect

import (
	"slices"

	"golang.org/x/sys/unix"
)

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
