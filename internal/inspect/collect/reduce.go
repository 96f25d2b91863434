package collect

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/launch"
	"github.com/kqos/kqos/internal/nodeapi"
)

// addReduced adds what is packed in part only.
func (c *Collection) addReduced(o Options) {
	for _, pattern := range names() {
		matches, _ := filepath.Glob(filepath.Join(c.root, c.rooted(pattern)))
		for _, match := range matches {
			info, err := os.Lstat(match)
			name, wrong := filepath.Rel(c.root, match)
			if err == nil && wrong == nil {
				c.put(Entry{Path: filepath.ToSlash(name), folder: info.IsDir()})
			}
		}
	}
	c.reduced("proc/cmdline", kernelParameters)
	c.reduced("etc/crio/crio.conf", keptKeys("cgroup_manager"))
	c.reduced("etc/docker/daemon.json", dockerOptions)
	for _, file := range nodeapi.ContainerdFiles(c.root) {
		c.reduced(strings.TrimPrefix(file, "/"), func(text []byte) []byte {
			kept, err := nodeapi.ReduceContainerd(text)
			if err != nil {
				c.note("%s: left out: it is no TOML, so what it holds can't be cut down", file)
				return nil
			}
			return kept
		})
	}
	dropins, _ := filepath.Glob(filepath.Join(c.root, "etc/crio/crio.conf.d/*"))
	for _, file := range dropins {
		c.reduced("etc/crio/crio.conf.d/"+filepath.Base(file), keptKeys("cgroup_manager"))
	}
	for _, place := range []string{"var/lib/kubelet/device-plugins/", "var/lib/kubelet/"} {
		c.reduced(c.rooted(place+kubelet.DeviceManagerStateFile), c.devices)
	}
	if config := c.configured(o.Config, func(k *launch.Kubelet) string { return k.Config }); config != "" {
		c.config(config)
	}
	if dir := c.configured(o.ConfigDir, func(k *launch.Kubelet) string { return k.ConfigDir }); dir != "" {
		// The kubelet looks into folders of it as well.
		_ = filepath.WalkDir(filepath.Join(c.root, dir), func(file string, _ os.DirEntry, err error) error {
			if name, wrong := filepath.Rel(c.root, file); err == nil && wrong == nil && strings.HasSuffix(name, ".conf") {
				c.config(filepath.ToSlash(name))
			}
			return nil
		})
	}
	c.commandLine()
}

// configured is a path below the root: the one named, else the host's kubelet's.
func (c *Collection) configured(named string, own func(*launch.Kubelet) string) string {
	if named != "" || c.kubelet == nil || own(c.kubelet) == "" {
		return named
	}
	below, err := filepath.Rel(c.root, own(c.kubelet))
	if err != nil {
		return ""
	}
	return filepath.ToSlash(below)
}

// reduced adds what cut keeps of a file; nil means nothing.
func (c *Collection) reduced(name string, cut func([]byte) []byte) {
	if _, err := os.Stat(filepath.Join(c.root, name)); err != nil {
		return
	}
	if text, ok := c.text(name); ok {
		if kept := cut(text); kept != nil {
			c.put(Entry{Path: name, content: kept})
		}
	}
}

// kernelParameters keeps those that decide on cgroups, CPUs and memory: others
// may hold passwords.
func kernelParameters(text []byte) []byte {
	var kept []string
	for word := range strings.FieldsSeq(string(text)) {
		name, _, _ := strings.Cut(word, "=")
		if slices.Contains([]string{
			"systemd.unified_cgroup_hierarchy", "systemd.legacy_systemd_cgroup_controller", "cgroup_no_v1", "cgroup_disable",
			"cgroup_enable", "cgroup_memory", "swapaccount", "psi", "isolcpus", "nohz_full", "rcu_nocbs", "maxcpus", "nr_cpus",
			"nosmt", "mitigations", "hugepages", "hugepagesz", "default_hugepagesz", "transparent_hugepage", "numa", "numa_balancing", "mem",
		}, name) {
			kept = append(kept, word)
		}
	}
	return []byte(strings.Join(kept, " ") + "\n")
}

// keptKeys keeps the lines of a TOML file that assign these keys: the rest may
// hold credentials of registries.
func keptKeys(keys ...string) func([]byte) []byte {
	return func(text []byte) []byte {
		kept := []byte{}
		for line := range strings.Lines(string(text)) {
			name, _, _ := strings.Cut(line, "=")
			if slices.Contains(keys, strings.TrimSpace(name)) {
				kept = append(kept, line...)
			}
		}
		return kept
	}
}

func dockerOptions(text []byte) []byte {
	var config struct {
		ExecOpts []string `json:"exec-opts,omitempty"`
	}
	if json.Unmarshal(text, &config) != nil {
		return nil
	}
	kept, err := json.Marshal(config)
	if err != nil {
		return nil
	}
	return kept
}

// devices takes the answers of device plugins out of their checkpoint: they hold
// environments of containers.
func (c *Collection) devices(text []byte) []byte {
	s, err := kubelet.ReadDeviceManagerState(text)
	if err != nil {
		c.note("%s: left out: it can't be read (%v), so what it holds can't be cut down", kubelet.DeviceManagerStateFile, err)
		return nil
	}
	for i := range s.Entries {
		s.Entries[i].AllocResp = nil
	}
	kept, err := s.Marshal()
	if err != nil {
		return nil
	}
	return kept
}

// config adds a KubeletConfiguration. staticPodURLHeader, which may hold a
// token, is taken out, and a file with anything else in it is left out.
func (c *Collection) config(name string) {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	c.reduced(name, func(text []byte) []byte {
		var object map[string]any
		if err := yaml.Unmarshal(text, &object); err != nil || documents(string(text)) > 1 {
			c.note("%s: left out: it is no YAML of one document", name)
			return nil
		}
		if object["kind"] != "KubeletConfiguration" {
			c.note("%s: left out: it is no KubeletConfiguration", name)
			return nil
		}
		if _, secret := object["staticPodURLHeader"]; !secret {
			return text
		}
		delete(object, "staticPodURLHeader")
		c.note("%s: without staticPodURLHeader", name)
		kept, err := yaml.Marshal(object)
		if err != nil {
			return nil
		}
		return kept
	})
}

// documents counts the YAML documents that hold anything.
func documents(text string) int {
	count, content := 0, false
	for line := range strings.Lines(text + "\n---\n") {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case strings.HasPrefix(line, "---"):
			if content {
				count++
			}
			// A document may begin on the line of the dashes.
			content = strings.TrimSpace(strings.TrimLeft(line, "-")) != ""
		case line != "" && !strings.HasPrefix(strings.TrimSpace(line), "#"):
			content = true
		}
	}
	return count
}

// commandLine adds a command line of the kubelet that names its files and those
// flags that decide on resources, cgroups and placement, and nothing else of it:
// that of its process, or of its unit where it does not run.
func (c *Collection) commandLine() {
	k := c.kubelet
	if k == nil || len(k.Flags) == 0 && k.PID == 0 {
		return
	}
	line := []string{"kubelet"}
	named := nodeapi.ParseKubelet(k.Flags)
	for _, flag := range [][2]string{{"config", named.Config}, {"config-dir", named.ConfigDir}, {"root-dir", named.RootDir}} {
		if flag[1] != "" {
			line = append(line, "--"+flag[0]+"="+flag[1])
		}
	}
	for _, flag := range kubelet.KnownFlags(k.Flags) {
		line = append(line, "--"+flag[0]+"="+flag[1])
	}
	if k.PID != 0 {
		c.put(Entry{Path: path.Join("proc", strconv.Itoa(k.PID), "cmdline"), content: []byte(strings.Join(line, "\x00") + "\x00")})
		return
	}
	for i, word := range line {
		line[i] = strconv.Quote(word)
	}
	c.put(Entry{Path: "etc/systemd/system/kubelet.service", content: []byte("[Service]\nExecStart=" + strings.Join(line, " ") + "\n")})
}
