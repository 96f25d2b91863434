package cli

import (
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kqos/kqos/internal/inspect"
)

// TestWatchLearnsAgain learns about the node anew at each of many looks, and has
// no more open and running for it in the end.
func TestWatchLearnsAgain(t *testing.T) {
	root := askedNode(t)
	l, ok := silentAt(t, daemons(root)[0]).(*net.UnixListener)
	if !ok {
		t.Fatal("no unix socket")
	}
	l.SetUnlinkOnClose(false) // nobody listens at it any more
	l.Close()
	o := inspectOptions{timeout: time.Minute, planOptions: planOptions{containers: true, podsFrom: "auto", node: nodeFlags{
		driver: "auto", cgroupVersion: "auto", kubernetes: "auto", topology: "synthetic:cores=8", hostRoot: root, live: true, hostConfig: true,
	}}}
	w, err := newWatcher(t.Context(), o, &app{System: silent(nil)}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	look := func() (files, routines int) {
		t.Helper()
		w.learnt = time.Time{}
		if v, err := w.look(t.Context(), inspect.Focus{}); err != nil || len(v.Cgroups) == 0 {
			t.Fatal(err)
		}
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, fd := range fds {
			if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(to, root) {
				files++
			}
		}
		return files, runtime.NumGoroutine()
	}
	files, routines := look()
	for range 100 {
		look()
	}
	// A connection that was closed takes a moment to end.
	deadline := time.Now().Add(time.Minute)
	for {
		now, running := look()
		if now != files {
			t.Fatalf("%d files are open, %d after the first look", now, files)
		}
		if running <= routines+5 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines run, %d after the first look", running, routines)
		}
	}
}
