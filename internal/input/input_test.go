package input

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAllEndsAtTheLimit(t *testing.T) {
	const limit = 1 << 20
	for _, size := range []int{0, limit - 1, limit} {
		data, err := All(strings.NewReader(strings.Repeat("x", size)), limit)
		if err != nil || len(data) != size {
			t.Errorf("%d bytes: got %d, %v", size, len(data), err)
		}
	}
	if _, err := All(strings.NewReader(strings.Repeat("x", limit+1)), limit); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("one byte too many: %v", err)
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := File(name, Config); err != nil || string(data) != "text" {
		t.Errorf("got %q, %v", data, err)
	}
	if _, err := File(filepath.Join(dir, "none"), Config); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
	if _, err := File(name, 3); !errors.As(err, new(*fs.PathError)) || !strings.Contains(err.Error(), "larger than 0 MiB") {
		t.Errorf("a file too large: %v", err)
	}
	if _, err := File(dir, Config); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := File(os.DevNull, Config); err != nil {
		t.Errorf("%s: %v", os.DevNull, err)
	}
}
