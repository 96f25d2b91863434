package apply

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestWatchInputs(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	pods := filepath.Join(dir, "pods")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, "a")
	if err := os.MkdirAll(filepath.Join(pods, "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	changed, err := WatchInputs(t.Context(), []string{file, pods}, true)
	if err != nil {
		t.Fatal(err)
	}
	told := func(what string) {
		t.Helper()
		select {
		case <-changed:
		case <-time.After(5 * time.Second):
			t.Errorf("not told of %s", what)
		}
	}
	write(file, "b")
	told("a write")
	write(file+".new", "c")
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
	told("a replaced file")
	write(filepath.Join(pods, "deep", "pod.yaml"), "d")
	told("a file in a folder below")
	if err := os.Mkdir(filepath.Join(pods, "new"), 0o700); err != nil {
		t.Fatal(err)
	}
	told("a new folder")
	write(filepath.Join(pods, "new", "pod.yaml"), "e")
	told("a file in a new folder")
	if _, err := WatchInputs(t.Context(), []string{filepath.Join(dir, "absent")}, false); err == nil {
		t.Error("watching what does not exist passed")
	}
}
