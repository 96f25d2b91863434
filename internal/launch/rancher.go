package launch

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kqos/kqos/internal/nodeapi"
)

// rancher is the kubelet of k3s or RKE2: the drop-ins that it writes itself, and
// the kubelet-arg of its configuration and of its unit, which k3s passes on as
// flags. nil where neither is there.
func (h host) rancher(p place) *Kubelet {
	settings, from := h.rancherSettings(p.rancher)
	dir := p.configDir
	if len(settings.dataDir) > 0 {
		data := settings.dataDir[len(settings.dataDir)-1]
		dir = path.Join(data, strings.TrimPrefix(p.configDir, path.Join("/var/lib/rancher", p.rancher)))
	}
	if len(from) == 0 && !h.exists(dir) {
		return nil
	}
	flags := []string{}
	if h.exists(dir) {
		// Before v1.32 k3s had flags only.
		flags = append(flags, "--config-dir="+dir)
	}
	for _, arg := range settings.kubeletArg {
		flags = append(flags, "--"+strings.TrimLeft(arg, "-"))
	}
	k := h.started(nodeapi.ParseKubelet(flags), from...)
	k.Distribution = p.distribution
	return k
}

// rancherValues are settings of k3s that may be given more than once.
type rancherValues struct{ dataDir, kubeletArg []string }

// rancherSettings reads what configures k3s or RKE2: config.yaml, the files of
// config.yaml.d, then the command line of the unit. A file's list takes the
// place of those before it unless its key ends with a plus sign; the command
// line adds to it.
//
// k3s-io/k3s: pkg/configfilearg/parser.go.
func (h host) rancherSettings(name string) (settings rancherValues, from []string) {
	folder := path.Join("/etc/rancher", name)
	files := []string{path.Join(folder, "config.yaml")}
	matches, _ := filepath.Glob(h.path(path.Join(folder, "config.yaml.d", "*.y*ml")))
	for _, match := range matches {
		files = append(files, path.Join(folder, "config.yaml.d", filepath.Base(match)))
	}
	for _, file := range files {
		text, ok := h.read(file)
		if !ok {
			continue
		}
		var values map[string]any
		if yaml.Unmarshal([]byte(text), &values) != nil {
			continue
		}
		args := merge(&settings.kubeletArg, values, "kubelet-arg")
		data := merge(&settings.dataDir, values, "data-dir")
		if args || data {
			from = append(from, file)
		}
	}
	for _, service := range []string{name, name + "-server", name + "-agent"} {
		line, units := h.command(service + ".service")
		if settings.add(line) {
			from = append(from, units...)
		}
	}
	return settings, from
}

// add takes the settings of a command line in and tells whether it has any.
func (s *rancherValues) add(line []string) bool {
	before := len(s.kubeletArg) + len(s.dataDir)
	for i, word := range line {
		name, value, ok := strings.Cut(word, "=")
		if !ok && i+1 < len(line) {
			value = line[i+1]
		}
		switch name {
		case "--kubelet-arg":
			s.kubeletArg = append(s.kubeletArg, value)
		case "--data-dir", "-d":
			s.dataDir = append(s.dataDir, value)
		}
	}
	return len(s.kubeletArg)+len(s.dataDir) > before
}

// merge takes a value or a list of values in, and tells whether there is any.
func merge(to *[]string, values map[string]any, key string) bool {
	value, replaces := values[key]
	if replaces {
		*to = listed(value)
	}
	more, adds := values[key+"+"]
	if adds {
		*to = slices.Concat(*to, listed(more))
	}
	return replaces || adds
}

// listed is the value of a flag as YAML has it: one or a list.
func listed(value any) []string {
	many, ok := value.([]any)
	if !ok {
		return []string{fmt.Sprint(value)}
	}
	var all []string
	for _, one := range many {
		all = append(all, fmt.Sprint(one))
	}
	return all
}
