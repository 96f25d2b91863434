package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestUnlinked lets /dev/null, device 1:3, stand for a GPU.
func TestUnlinked(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "dev/char"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := unlinked(root); got != nil {
		t.Errorf("without a GPU: %v", got)
	}
	for _, name := range []string{"nvidia0", "nvidiactl"} {
		if err := os.Symlink("/dev/null", filepath.Join(root, "dev", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "dev/nvidia-notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := unlinked(root); !slices.Equal(got, []string{"nvidia0", "nvidiactl"}) {
		t.Errorf("without links: %v", got)
	}
	if err := os.Symlink("../null", filepath.Join(root, "dev/char/1:3")); err != nil {
		t.Fatal(err)
	}
	if got := unlinked(root); got != nil {
		t.Errorf("with its link: %v", got)
	}
}
