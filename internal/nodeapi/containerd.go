package nodeapi

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"github.com/kqos/kqos/internal/input"
)

// RuntimeDriver is what containerd's configuration says of one of its runtimes.
type RuntimeDriver struct {
	// Runtime is its name, such as runc.
	Runtime string
	// Systemd is SystemdCgroup, and File where it stands, as the host names it.
	Systemd bool
	File    string
}

// containerdConfig is what of a file decides on cgroups. Its other parts may hold
// credentials of registries.
type containerdConfig struct {
	Version int      `toml:"version,omitempty"`
	Imports []string `toml:"imports,omitempty"`
	Plugins struct {
		V1 *criPlugin `toml:"cri,omitempty"`
		V2 *criPlugin `toml:"io.containerd.grpc.v1.cri,omitempty"`
		V3 *criPlugin `toml:"io.containerd.cri.v1.runtime,omitempty"`
	} `toml:"plugins,omitempty"`
}

type criPlugin struct {
	Containerd struct {
		Runtimes map[string]runtimeConfig `toml:"runtimes,omitempty"`
	} `toml:"containerd,omitempty"`
}

type runtimeConfig struct {
	Options struct {
		SystemdCgroup *bool `toml:"SystemdCgroup,omitempty"`
	} `toml:"options,omitempty"`
}

// maxContainerdFiles bounds what imports may lead to.
const maxContainerdFiles = 100

// ContainerdFiles are the files of containerd's configuration on the host below
// root with what they import, in the order in which the later ones win.
//
// containerd v2.2: cmd/containerd/server/config/config.go LoadConfigWithPlugins.
func ContainerdFiles(root string) []string {
	var files []string
	pending := []string{"/etc/containerd/config.toml", "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"}
	for len(pending) > 0 && len(files) < maxContainerdFiles {
		name := pending[0]
		pending = pending[1:]
		if slices.Contains(files, name) {
			continue
		}
		config, err := readContainerd(root, name)
		if os.IsNotExist(err) {
			continue
		}
		files = append(files, name)
		for _, pattern := range config.Imports {
			if !path.IsAbs(pattern) {
				pattern = path.Join(path.Dir(name), pattern)
			}
			// A pattern that is none matches nothing, and containerd does not start.
			matches, _ := fs.Glob(os.DirFS(root), path.Clean(pattern)[1:])
			for _, match := range matches {
				pending = append(pending, "/"+match)
			}
		}
	}
	return files
}

// ContainerdDrivers reads which cgroup driver each runtime of containerd uses,
// where its configuration says so: else it depends on the version. Files that
// can't be read are told by the error, beside what the others say.
func ContainerdDrivers(root string) ([]RuntimeDriver, error) {
	found := map[string]RuntimeDriver{}
	var failed error
	for _, name := range ContainerdFiles(root) {
		config, err := readContainerd(root, name)
		if err != nil {
			failed = cmp.Or(failed, err)
			continue
		}
		for _, plugin := range []*criPlugin{config.Plugins.V1, config.Plugins.V2, config.Plugins.V3} {
			if plugin == nil {
				continue
			}
			for runtime, r := range plugin.Containerd.Runtimes {
				if on := r.Options.SystemdCgroup; on != nil {
					found[runtime] = RuntimeDriver{Runtime: runtime, Systemd: *on, File: name}
				}
			}
		}
	}
	drivers := make([]RuntimeDriver, 0, len(found))
	for _, runtime := range slices.Sorted(maps.Keys(found)) {
		drivers = append(drivers, found[runtime])
	}
	return drivers, failed
}

// ReduceContainerd keeps of a file of containerd's configuration what decides on
// cgroups.
func ReduceContainerd(text []byte) ([]byte, error) {
	config, err := parseContainerd(text)
	if err != nil {
		return nil, err
	}
	return toml.Marshal(config)
}

func readContainerd(root, name string) (containerdConfig, error) {
	text, err := input.File(filepath.Join(root, name), input.Config)
	if err != nil {
		return containerdConfig{}, err
	}
	config, err := parseContainerd(text)
	if err != nil {
		return config, fmt.Errorf("reading %s: %w", name, err)
	}
	return config, nil
}

func parseContainerd(text []byte) (containerdConfig, error) {
	var config containerdConfig
	err := toml.Unmarshal(text, &config)
	return config, err
}
