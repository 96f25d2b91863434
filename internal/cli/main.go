package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes; every command's help ends with them.
const (
	exitDone        = 0
	exitFound       = 1
	exitFailed      = 2
	exitInterrupted = 130
)

// errFound makes the exit code 1: the command did its work and found what it
// looks for. It is told nowhere else, since the result already says it.
var errFound = errors.New("found")

// errShown makes the exit code 2 without a further message.
var errShown = errors.New("shown")

// Main runs kqos with the arguments after its name and returns the exit code.
func Main(args []string, sys System) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{System: sys}
	root := newRoot(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if a.unpacked != "" {
		err = errors.Join(err, os.RemoveAll(a.unpacked))
	}
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errFound):
		return exitFound
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		a.logger().Error("interrupted")
		return exitInterrupted
	}
	for _, e := range leaves(err) {
		if !errors.Is(e, errShown) {
			a.logger().Error(e.Error())
		}
	}
	return exitFailed
}

// leaves takes joined errors apart, so that each gets a line of its own.
func leaves(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, leaves(e)...)
	}
	return all
}
