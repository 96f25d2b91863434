package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/kqos/kqos/internal/archive"
	"github.com/kqos/kqos/internal/fleet"
	"github.com/kqos/kqos/internal/input"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate"
)

// kubeletDir is the kubelet's root directory in an archive of collect.
const kubeletDir = "var/lib/kubelet"

// nodeFiles are the files of a folder that are each named by a node.
type nodeFiles struct {
	paths map[string]string
}

// readNodeFiles lists a folder. A node's name may have dots, so that only
// known endings are no part of it.
func readNodeFiles(dir string) (*nodeFiles, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := &nodeFiles{paths: map[string]string{}}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") {
			continue
		}
		for _, ending := range []string{".tar.gz", ".tar.bz2", ".tgz", ".tar", ".json", ".yaml", ".yml", ".xml"} {
			if short, ok := strings.CutSuffix(name, ending); ok {
				name = short
				break
			}
		}
		if other, twice := files.paths[name]; twice {
			return nil, fmt.Errorf("%s and %s are both named by the node %s", other, filepath.Join(dir, e.Name()), name)
		}
		files.paths[name] = filepath.Join(dir, e.Name())
	}
	return files, nil
}

// names lists the nodes and the file of each.
func (f *nodeFiles) names() map[string]string { return f.paths }

func (f *nodeFiles) has(node string) bool { return f.paths[node] != "" }

// topology reads a node's machine, and of an archive that kqos collect made the
// checkpoint files.
func (f *nodeFiles) topology(ctx context.Context, node string) (*fleet.Topology, error) {
	path := f.paths[node]
	m, err := machine.Load(ctx, path)
	if err != nil {
		return nil, err
	}
	t := &fleet.Topology{Machine: m, Source: path}
	files := collected(ctx, path)
	if files == nil {
		return t, nil
	}
	for _, name := range []string{kubelet.CPUManagerStateFile, kubelet.MemoryManagerStateFile} {
		text, err := fs.ReadFile(files, kubeletDir+"/"+name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading checkpoint: %w", err)
		}
		if t.Files == nil {
			t.Files = simulate.Files{}
		}
		t.Files[name] = string(text)
	}
	return t, nil
}

// collected opens a folder or an archive of a node's files; nil where the path
// is neither.
func collected(ctx context.Context, path string) fs.FS {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	if info.IsDir() {
		return os.DirFS(path)
	}
	if !strings.Contains(filepath.Base(path), ".tar") && !strings.HasSuffix(path, ".tgz") {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	files, err := archive.Read(ctx, f)
	if err != nil {
		return nil
	}
	return files
}

// fleetConfigs loads the configurations of nodes, equal ones once.
type fleetConfigs struct {
	files, machines *nodeFiles
	gates           map[string]bool
	candidate       string
	mu              sync.Mutex
	loaded          map[configKey]*kubelet.Config
}

// configKey is what a configuration depends on.
type configKey struct {
	text  [sha256.Size]byte
	minor kubelet.Minor
	dir   string
}

// now is the configuration that a node's kubelet has; nil where no file tells.
func (c *fleetConfigs) now(node string, minor kubelet.Minor) (*kubelet.Config, string, error) {
	text, path, err := c.read(node)
	if err != nil || path == "" {
		return nil, path, err
	}
	config, err := c.load(text, path, minor, "")
	return config, path, err
}

// next is the configuration with the candidate merged onto it.
func (c *fleetConfigs) next(node string, minor kubelet.Minor) (*kubelet.Config, error) {
	text, path, err := c.read(node)
	if err != nil || path == "" {
		return nil, err
	}
	return c.load(text, path, minor, c.candidate)
}

// read finds a node's configuration: its /configz answer, else the file in an
// archive of the node; path is empty where there is neither.
func (c *fleetConfigs) read(node string) (text []byte, path string, err error) {
	if c.files != nil && c.files.has(node) {
		path = c.files.paths[node]
		if text, err = input.File(path, input.Config); err == nil && len(bytes.TrimSpace(text)) == 0 {
			err = fmt.Errorf("%s is empty: kubectl got no answer", path)
		}
		return text, path, err
	}
	if c.machines == nil || !c.machines.has(node) {
		return nil, "", nil
	}
	path = c.machines.paths[node]
	files := collected(context.Background(), path)
	if files == nil {
		return nil, "", nil
	}
	text, err = fs.ReadFile(files, kubeletDir+"/config.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	return text, path, err
}

func (c *fleetConfigs) load(text []byte, path string, minor kubelet.Minor, dir string) (*kubelet.Config, error) {
	key := configKey{sha256.Sum256(text), minor, dir}
	c.mu.Lock()
	known := c.loaded[key]
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	config, err := kubelet.Load(kubelet.LoadOptions{File: path, Data: text, Dir: dir, Gates: c.gates, Minor: minor})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded == nil {
		c.loaded = map[configKey]*kubelet.Config{}
	}
	c.loaded[key] = config
	return config, nil
}
