//go:build !linux

package cli

import (
	"errors"
	"io"
)

// rawTerminal is for Linux nodes; elsewhere captured nodes are shown line by
// line.
func rawTerminal(io.Reader) (keys <-chan byte, size func() (rows, columns int), restore func(), err error) {
	return nil, nil, nil, errors.New("only on Linux")
}
