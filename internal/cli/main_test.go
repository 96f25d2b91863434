package cli

import (
	"bytes"
	"context"
	"os"
	"syscall"
	"testing"
)

// A command that does not hold is left at once, one that holds has its end
// awaited, and a second signal leaves that one too.
func TestAwait(t *testing.T) {
	for _, tt := range []struct {
		name    string
		holds   bool
		signals []os.Signal
		// ends says that the command ends when its context does, with that error.
		ends bool
		err  error
		want int
	}{
		{name: "ends by itself", ends: true, want: exitDone},
		{name: "finds something", ends: true, err: errFound, want: exitFound},
		{name: "reads a pipe", signals: []os.Signal{os.Interrupt}, want: exitInterrupted},
		{name: "is told to terminate", signals: []os.Signal{syscall.SIGTERM}, want: exitTerminated},
		{name: "stops between operations", holds: true, signals: []os.Signal{syscall.SIGTERM}, ends: true, err: context.Canceled, want: exitTerminated},
		{name: "gets done all the same", holds: true, signals: []os.Signal{os.Interrupt}, ends: true, want: exitDone},
		{name: "fails to get done", holds: true, signals: []os.Signal{os.Interrupt}, ends: true, err: errShown, want: exitFailed},
		{name: "is interrupted twice", holds: true, signals: []os.Signal{os.Interrupt, os.Interrupt}, want: exitInterrupted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &app{System: System{Err: &bytes.Buffer{}}}
			if tt.holds {
				a.hold()
			}
			ended, signals := make(chan error, 1), make(chan os.Signal, 2)
			for _, s := range tt.signals {
				signals <- s
			}
			if tt.ends && len(tt.signals) == 0 {
				ended <- tt.err
			}
			got := a.await(ended, signals, func() {
				if tt.ends {
					ended <- tt.err
				}
			})
			if got != tt.want {
				t.Errorf("exit code %d, want %d", got, tt.want)
			}
		})
	}
}
