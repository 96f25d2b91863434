// Package machine compares how kqos reads a machine out of its files with
// cAdvisor and the kubelet.
package machine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/gen"
	"github.com/kqos/kqos/conformance/oracle/cadvisor"
	"github.com/kqos/kqos/conformance/oracle/sysfs"
	"github.com/kqos/kqos/internal/machine"
)

func TestSysfs(t *testing.T) {
	dir := memory(t)
	check.Property(t, 500, func(t *rapid.T) {
		in := gen.Sysfs().Draw(t, "files")
		root, remove := check.Dir(t, dir)
		defer remove()
		if err := write(in, root); err != nil {
			t.Fatal(err)
		}
		info, err := sysfs.Read(root)
		if err != nil {
			t.Fatal(err)
		}
		m, err := machine.Detect(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		check.Equal(t, in, sysfs.ViewOf(info), sysfs.ViewOf(cadvisor.Info(m)))
	})
}

// memory is a folder in memory, where there is one: on a disk the thousands of
// small files take minutes.
func memory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "kqos-sysfs")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func write(files gen.Files, root string) (err error) {
	for path, text := range files {
		path = filepath.Join(root, path)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700))
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			err = errors.Join(err, os.Symlink(target, path))
			continue
		}
		err = errors.Join(err, os.WriteFile(path, []byte(text), 0o600))
	}
	return err
}
