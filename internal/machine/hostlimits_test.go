package machine

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMaxPIDs(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"the lower of both": {map[string]string{"pid_max": "4194304\n", "threads-max": "513000\n"}, 513000},
		"one of them":       {map[string]string{"pid_max": "32768\n"}, 32768},
		"no number":         {map[string]string{"pid_max": "many\n", "threads-max": "100\n"}, 100},
		"neither":           {nil, -1},
	} {
		root := t.TempDir()
		dir := filepath.Join(root, "proc/sys/kernel")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for file, content := range tt.files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		limits := ReadHostLimits(t.Context(), root)
		got := int64(-1)
		if limits.PIDs != nil {
			got = *limits.PIDs
		}
		if got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
		if limits.Storage != nil {
			t.Errorf("%s: a captured folder has %d bytes of storage", name, *limits.Storage)
		}
	}
}
