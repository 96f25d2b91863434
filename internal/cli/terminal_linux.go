package cli

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// rawTerminal has a terminal hand over each key at once, unechoed. Ctrl-C still
// interrupts. restore puts it back.
func rawTerminal(in io.Reader) (keys <-chan byte, size func() (rows, columns int), restore func(), err error) {
	file, ok := in.(*os.File)
	if !ok {
		return nil, nil, nil, errors.New("the input is no terminal")
	}
	fd := int(file.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil, nil, nil, errors.New("the input is no terminal")
	}
	raw := *before
	raw.Lflag &^= unix.ICANON | unix.ECHO
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &raw); err != nil {
		return nil, nil, nil, err
	}
	typed := make(chan byte)
	go func() {
		// The read ends with the process: a terminal has no other end.
		var b [1]byte
		for {
			if n, err := file.Read(b[:]); err != nil || n == 0 {
				return
			}
			typed <- b[0]
		}
	}()
	size = func() (rows, columns int) {
		w, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		if err != nil || w.Row == 0 || w.Col == 0 {
			return 24, 80 // the size of a terminal that tells none
		}
		return int(w.Row), int(w.Col)
	}
	return typed, size, func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, before) }, nil
}
