// Package cli is the command line: one file a command, which turns flags into
// one call of a package below and the result into a view that render prints.
// No rule of the kubelet lives here.
package cli

import (
	"io"
	"os"
)

// System is all that a command touches of its surroundings, so that a test can
// run the same code.
type System struct {
	In       io.Reader
	Out, Err io.Writer
	// Terminal says whether Out is one.
	Terminal bool
	// Getenv reads the environment.
	Getenv func(string) string
}

// Host is the real surroundings of this process.
func Host() System {
	info, err := os.Stdout.Stat()
	return System{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Terminal: err == nil && info.Mode()&os.ModeCharDevice != 0,
		Getenv:   os.Getenv,
	}
}
