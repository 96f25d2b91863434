package launch

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreos/go-systemd/v22/unit"

	"github.com/kqos/kqos/internal/nodeapi"
)

// unitFolders are where systemd looks for units, what comes first wins.
//
// systemd.unit(5), "Unit File Load Path".
func unitFolders() []string {
	return []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}
}

// systemd is the kubelet that kubelet.service would start, nil where it starts
// none that has a configuration by now.
func (h host) systemd() *Kubelet {
	line, from := h.command("kubelet.service")
	at := slices.IndexFunc(line, func(word string) bool { return path.Base(word) == "kubelet" })
	if at < 0 {
		return nil
	}
	k := h.started(nodeapi.ParseKubelet(line[at+1:]), from...)
	// kubeadm installs the unit before it writes the files.
	if k.Config == "" && k.ConfigDir == "" && errors.Is(errors.Join(k.Missing...), fs.ErrNotExist) {
		return nil
	}
	return k
}

// command is the command line of a service with its variables put in, and the
// files that tell it.
func (h host) command(service string) (line, from []string) {
	var start string
	inline, files := map[string]string{}, map[string]string{}
	for _, name := range h.unitFiles(service) {
		options, err := h.options(name)
		if err != nil {
			continue
		}
		told := false
		for _, o := range options {
			if o.Section != "Service" {
				continue
			}
			// A backslash at its end continues a line.
			value := strings.ReplaceAll(o.Value, "\\\n", " ")
			switch o.Name {
			case "ExecStart":
				start, told = strings.TrimLeft(value, "@-:+!|"), true
			case "Environment":
				assign(inline, words(value))
			case "EnvironmentFile":
				if file := strings.TrimPrefix(value, "-"); h.environment(files, file) {
					from = append(from, file)
				}
			}
		}
		if told {
			from = append(from, name)
		}
	}
	// A file wins over what stands in the unit: systemd.exec(5), "EnvironmentFile=".
	maps.Copy(inline, files)
	return expand(words(start), inline), from
}

// unitFiles are the files that make up a unit: itself and its drop-ins, in the
// order of their names.
func (h host) unitFiles(service string) []string {
	var main []string
	dropins := map[string]string{}
	for _, folder := range unitFolders() {
		if name := path.Join(folder, service); main == nil && h.exists(name) {
			main = []string{name}
		}
		matches, _ := filepath.Glob(h.path(path.Join(folder, service+".d", "*.conf")))
		for _, match := range matches {
			if base := filepath.Base(match); dropins[base] == "" {
				dropins[base] = path.Join(folder, service+".d", base)
			}
		}
	}
	for _, base := range slices.Sorted(maps.Keys(dropins)) {
		main = append(main, dropins[base])
	}
	return main
}

func (h host) options(name string) ([]*unit.UnitOption, error) {
	f, err := os.Open(h.path(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return unit.DeserializeOptions(f)
}

// environment adds the assignments of a file, one a line.
func (h host) environment(to map[string]string, name string) bool {
	text, ok := h.read(name)
	for line := range strings.Lines(uncommented(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		to[key] = unquoted(value)
	}
	return ok
}

// unquoted takes one pair of quotes off.
func unquoted(text string) string {
	text = strings.TrimSpace(text)
	if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		return text[1 : n-1]
	}
	return text
}

// assign adds assignments NAME=VALUE.
func assign(to map[string]string, assignments []string) {
	for _, a := range assignments {
		if key, value, ok := strings.Cut(a, "="); ok {
			to[key] = value
		}
	}
}
