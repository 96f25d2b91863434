package nodeapi

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// TestMain lets the test binary stand in for a kubelet: one that runs until its
// stdin ends, and one that is asked for its version.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "--version":
		fmt.Println("Kubernetes v1.33.7\ngo version go1.20")
	case len(os.Args) == 2 && os.Args[1] == "--run":
		_, _ = io.Copy(io.Discard, os.Stdin)
	default:
		os.Exit(m.Run())
	}
}

func TestVersion(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only what root runs is asked")
	}
	cmd := exec.Command(os.Args[0], "--run")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	k := &Kubelet{PID: cmd.Process.Pid}
	want := "Kubernetes v1.33.7"
	host, hidden := os.Readlink("/proc/1/ns/mnt")
	if own, err := os.Readlink("/proc/self/ns/mnt"); hidden != nil || err != nil || own != host {
		want = "" // what runs in a container, or may, is not asked
	}
	text, err := k.Version(t.Context(), "/")
	if text != want || (err == nil) != (want != "") {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
}

// TestVersionOfCopy has an executable in a captured host, which must not run.
func TestVersionOfCopy(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "proc", strconv.Itoa(42))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ran := filepath.Join(root, "ran")
	if err := os.WriteFile(filepath.Join(dir, "exe"), []byte("#!/bin/sh\ntouch "+ran), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Kubelet{PID: 42}).Version(t.Context(), root); err == nil {
		t.Error("a copy told a version")
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("what a copy holds was run")
	}
}
