package driver

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHost(t *testing.T) {
	for name, c := range map[string]struct {
		files   map[string]string
		folders []string
		version int
		driver  string
	}{
		"unified with systemd": {
			files:   map[string]string{"sys/fs/cgroup/cgroup.controllers": "cpu memory", "proc/1/comm": "systemd\n"},
			version: 2, driver: Systemd,
		},
		"hybrid without systemd": {
			files:   map[string]string{"proc/1/comm": "tini\n", "sys/fs/cgroup/unified/cgroup.controllers": ""},
			folders: []string{"sys/fs/cgroup/memory"},
			version: 1, driver: Cgroupfs,
		},
		"systemd seen from a container": {
			folders: []string{"run/systemd/system", "sys/fs/cgroup/cpu,cpuacct"},
			version: 1, driver: Systemd,
		},
		"nothing": {version: 0, driver: Cgroupfs},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, folder := range c.folders {
				if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for file, text := range c.files {
				path := filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := HostVersion(root); got != c.version {
				t.Errorf("HostVersion: got %d, want %d", got, c.version)
			}
			if got := HostDriver(root); got != c.driver {
				t.Errorf("HostDriver: got %s, want %s", got, c.driver)
			}
		})
	}
}
