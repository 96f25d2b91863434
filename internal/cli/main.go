package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit codes; every command's help ends with them.
const (
	exitDone        = 0
	exitFound       = 1
	exitFailed      = 2
	exitInterrupted = 130
	exitTerminated  = 143
)

// errFound makes the exit code 1: the command did its work and found what it
// looks for. It is told nowhere else, since the result already says it.
var errFound = errors.New("found")

// errShown makes the exit code 2 without a further message.
var errShown = errors.New("shown")

// Main runs kqos with the arguments after its name and returns the exit code.
// An interrupt ends a command wherever it is, such as in the middle of reading a
// pipe; one that holds (see app.hold) ends by itself, or at a second interrupt.
func Main(args []string, sys System) int {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	a := &app{System: sys}
	ended := make(chan error, 1)
	go func() {
		root := newRoot(a)
		root.SetArgs(args)
		ended <- root.ExecuteContext(ctx)
	}()
	return a.await(ended, signals, cancel)
}

// await is the exit code, once the command has ended or may be left.
func (a *app) await(ended <-chan error, signals <-chan os.Signal, cancel context.CancelFunc) int {
	var by os.Signal
	select {
	case err := <-ended:
		return a.end(err)
	case by = <-signals:
	}
	cancel()
	if a.holding.TryLock() {
		return a.interrupted(by)
	}
	select {
	case err := <-ended:
		if errors.Is(err, context.Canceled) {
			return a.interrupted(by)
		}
		return a.end(err)
	case by = <-signals:
		return a.interrupted(by)
	}
}

// hold keeps the first interrupt from ending the command at once: from here on
// it ends by itself when its context does, having left everything whole. That a
// command that holds no longer needs to is told by release.
func (a *app) hold() (release func()) {
	a.holding.Lock()
	return a.holding.Unlock
}

// end tells what went wrong and gives the exit code of a command.
func (a *app) end(err error) int {
	err = errors.Join(err, a.cleanUp())
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errFound):
		return exitFound
	}
	for _, e := range leaves(err) {
		if !errors.Is(e, errShown) {
			a.logger().Error(e.Error())
		}
	}
	return exitFailed
}

// interrupted is the end of a command by a signal, with the exit code of a shell
// whose command the signal killed.
func (a *app) interrupted(by os.Signal) int {
	if err := a.cleanUp(); err != nil {
		a.logger().Error(err.Error())
	}
	if by == syscall.SIGTERM {
		a.logger().Error("terminated")
		return exitTerminated
	}
	a.logger().Error("interrupted")
	return exitInterrupted
}

func (a *app) cleanUp() error {
	if a.unpacked == "" {
		return nil
	}
	return os.RemoveAll(a.unpacked)
}

// leaves takes joined errors apart, so that each gets a line of its own. What is
// said in front of several is said in front of each.
func leaves(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all, lines []error
		for _, e := range joined.Unwrap() {
			all, lines = append(all, leaves(e)...), append(lines, e)
		}
		if one := errors.Join(lines...); one == nil || one.Error() != err.Error() {
			return []error{err} // one sentence about several
		}
		return all
	}
	inner := errors.Unwrap(err)
	if inner == nil {
		return []error{err}
	}
	all := leaves(inner)
	before, last := strings.CutSuffix(err.Error(), inner.Error())
	if len(all) < 2 || !last {
		return []error{err}
	}
	for i := range all {
		all[i] = fmt.Errorf("%s%w", before, all[i])
	}
	return all
}
