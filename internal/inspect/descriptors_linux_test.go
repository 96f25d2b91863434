package inspect

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// openBelow lists what this process has open below a root.
func openBelow(t *testing.T, root string) []string {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var open []string
	for _, fd := range fds {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(to, root) {
			open = append(open, to)
		}
	}
	return open
}

// TestManyLooks keeps no more open after a thousand looks than after the first,
// though cgroups come and go and what is wanted is learnt anew.
func TestManyLooks(t *testing.T) {
	root, m := monitored(t)
	m.Look(t.Context(), Focus{})
	files, routines := len(openBelow(t, root)), runtime.NumGoroutine()
	if files == 0 {
		t.Fatal("nothing is kept open")
	}
	for n := range 1000 {
		passing := filepath.Join(root, tier, fmt.Sprint("podx", n))
		if n%3 == 0 {
			write(t, root, map[string]string{filepath.Join(tier, filepath.Base(passing), "cpu.stat"): "usage_usec 1\n"})
			m.Look(t.Context(), Focus{})
			if err := os.RemoveAll(passing); err != nil {
				t.Fatal(err)
			}
		}
		if n%50 == 0 {
			h, err := Open(root)
			if err != nil {
				t.Fatal(err)
			}
			anew := *m.inspection
			anew.Hierarchy = h
			anew.Walk()
			m.Adopt(&anew)
		}
		m.Look(t.Context(), Focus{})
	}
	m.Look(t.Context(), Focus{})
	if open := openBelow(t, root); len(open) != files {
		t.Errorf("%d files are open after a thousand looks, %d after the first: %v", len(open), files, open)
	}
	if now := runtime.NumGoroutine(); now > routines {
		t.Errorf("%d goroutines run, %d before", now, routines)
	}
	m.Close()
	if open := openBelow(t, root); len(open) > 0 {
		t.Errorf("still open: %v", open)
	}
}

// TestClosesWhatWasRead leaves nothing open behind one look, and closes nobody
// else's files with its own.
func TestClosesWhatWasRead(t *testing.T) {
	root := fullNode(t, 3)
	var others []*os.File
	for range 5 {
		f, err := os.Open(filepath.Join(root, "sys/fs/cgroup/cgroup.controllers"))
		if err != nil {
			t.Fatal(err)
		}
		others = append(others, f)
	}
	others[1].Close() // a hole between the others, for the first of those read
	others[3].Close()
	h, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	i := Inspection{Root: root, Hierarchy: h, Owners: HostOwners(root), Paths: h.Walk("/kubepods.slice")}
	i.Run(t.Context())
	if open := openBelow(t, root); len(open) != 3 {
		t.Errorf("open: %v, want the 3 of another", open)
	}
	for _, n := range []int{0, 2, 4} {
		if _, err := others[n].Stat(); err != nil {
			t.Error(err)
		}
		others[n].Close()
	}
}
