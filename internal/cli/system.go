// Package cli is the command line: one file a command, which turns flags into
// one call of a package below and the result into a view that render prints.
// No rule of the kubelet lives here.
//
//	os.Exit(cli.Main(os.Args[1:], cli.Host()))
package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mattn/go-isatty"

	"github.com/kqos/kqos/internal/input"
)

// System is all that a command touches of its surroundings, so that a test can
// run the same code.
type System struct {
	// Name is what the program is called by; empty for kqos.
	Name     string
	In       io.Reader
	Out, Err io.Writer
	// Terminal says whether Out is one, ErrTerminal whether Err is.
	Terminal, ErrTerminal bool
	// Getenv reads the environment.
	Getenv func(string) string
}

// Host is the real surroundings of this process.
func Host() System {
	return System{
		Name: calledBy(os.Args[0]), In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Terminal: isTerminal(os.Stdout), ErrTerminal: isTerminal(os.Stderr),
		Getenv: os.Getenv,
	}
}

// read reads a file, or standard input for "-", of at most limit bytes.
func (s *System) read(name string, limit int64) ([]byte, error) {
	if name != "-" {
		return input.File(name, limit)
	}
	data, err := input.All(s.In, limit)
	if err != nil {
		return nil, fmt.Errorf("reading stdin: %w", err)
	}
	return data, nil
}

// calledBy is the command that a person typed: kubectl runs kubectl-kqos.
func calledBy(path string) string {
	if strings.HasPrefix(filepath.Base(path), "kubectl-kqos") {
		return "kubectl kqos"
	}
	return "kqos"
}

func isTerminal(f *os.File) bool {
	return isatty.IsTerminal(f.Fd()) // not /dev/null, which cron and services have
}
