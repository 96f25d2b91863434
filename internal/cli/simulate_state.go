package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kqos/kqos/internal/input"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/simulate"
)

// stateFlags say where checkpoint files come from and go to.
type stateFlags struct {
	dir   string
	write string
}

func (s *stateFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.dir, "state-dir", "", "start from the kubelet's checkpoint files in this folder, such as /var/lib/kubelet")
	cmd.Flags().StringVar(&s.write, "write-state", "", "write the checkpoint files into this folder as the kubelet would")
}

// devicePlugins is the folder of the device manager's file below the kubelet's
// root directory.
const devicePlugins = "device-plugins"

// places are the paths below the kubelet's root directory where a checkpoint
// file can stand, the kubelet's own first.
func places(file string) []string {
	if file == kubelet.DeviceManagerStateFile {
		return []string{filepath.Join(devicePlugins, file), file}
	}
	return []string{file}
}

// load reads the files that the folder has; a folder without any is an error,
// since it is not the one that was meant.
func (s *stateFlags) load() (simulate.Files, error) {
	if s.dir == "" {
		return nil, nil
	}
	files := simulate.Files{}
	for _, name := range []string{kubelet.CPUManagerStateFile, kubelet.MemoryManagerStateFile, kubelet.DeviceManagerStateFile} {
		for _, place := range places(name) {
			data, err := input.File(filepath.Join(s.dir, place), input.Config)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("reading checkpoint: %w", err)
			}
			files[name] = string(data)
			break
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("--state-dir %s: has none of the kubelet's checkpoint files (%s, %s, %s)", s.dir,
			kubelet.CPUManagerStateFile, kubelet.MemoryManagerStateFile, places(kubelet.DeviceManagerStateFile)[0])
	}
	return files, nil
}

// save writes the files one by one, each whole or not at all.
func (s *stateFlags) save(a *app, files simulate.Files) error {
	if s.write == "" {
		return nil
	}
	defer a.hold()()
	for name, content := range files {
		if err := replaceFile(filepath.Join(s.write, places(name)[0]), content); err != nil {
			return fmt.Errorf("--write-state: writing %s: %w", name, err)
		}
	}
	return nil
}

// replaceFile writes a file beside its place and moves it there, as the kubelet
// does.
// kubelet v1.37: util/store/filestore.go writeFile
func replaceFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".")
	if err != nil {
		return err
	}
	_, err = tmp.WriteString(content)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
