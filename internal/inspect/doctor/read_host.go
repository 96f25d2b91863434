package doctor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kqos/kqos/internal/input"
)

// readHost reads the files outside the cgroups.
func readHost(root string) *Host {
	read := func(name string) (string, bool) {
		text, err := input.File(filepath.Join(root, name), input.Config)
		return strings.TrimSpace(string(text)), err == nil
	}
	h := &Host{}
	if text, found := read("proc/swaps"); found {
		h.SwapsKnown, h.Swaps = true, swaps(text)
	}
	h.Kernel, h.PSIKnown = read("proc/sys/kernel/osrelease")
	text, _ := read("proc/cmdline")
	h.Cmdline = strings.Fields(text)
	for _, name := range []string{"etc/os-release", "usr/lib/os-release"} {
		if text, found := read(name); found {
			h.OS = osName(text)
			break
		}
	}
	for _, e := range folder(filepath.Join(root, kubeletDir, "plugins")) {
		h.Plugins = append(h.Plugins, e.Name())
	}
	h.Unlinked = unlinked(root)
	h.PSI = isFolder(filepath.Join(root, "proc/pressure"))
	comm, _ := read("proc/1/comm")
	if h.SystemdRuns = comm == "systemd" || isFolder(filepath.Join(root, "run/systemd/system")); h.SystemdRuns {
		h.Systemd = systemdVersion(root)
	}
	return h
}

// folder lists what is in one; nothing where it is not there.
func folder(name string) []os.DirEntry {
	entries, _ := os.ReadDir(name)
	return entries
}

// swaps are the devices of /proc/swaps, whose first line is a header.
//
// kubelet v1.37: pkg/kubelet/util/swap/swap_util.go isSwapOnAccordingToProcSwaps.
func swaps(text string) []string {
	var devices []string
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if i > 0 {
			devices = append(devices, strings.Join(strings.Fields(line), " "))
		}
	}
	return devices
}

// osName is PRETTY_NAME of an os-release file.
func osName(text string) string {
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); found {
			return strings.Trim(value, `"'`)
		}
	}
	return ""
}

// systemdVersion reads the version from the name of systemd's own library, since
// no file holds it; 0 where there is none.
func systemdVersion(root string) int {
	for _, dir := range []string{"usr/lib/systemd", "lib/systemd", "usr/lib/x86_64-linux-gnu/systemd", "usr/lib/aarch64-linux-gnu/systemd", "usr/lib64/systemd"} {
		for _, e := range folder(filepath.Join(root, dir)) {
			if v := libraryVersion(e.Name()); v > 0 {
				return v
			}
		}
	}
	return 0
}

// libraryVersion is the version of a file such as
// libsystemd-shared-252.31-1.so, 0 for another file.
func libraryVersion(name string) int {
	rest, found := strings.CutPrefix(name, "libsystemd-shared-")
	if !found {
		return 0
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		return 0
	}
	v, err := strconv.Atoi(rest[:end])
	if err != nil {
		return 0
	}
	return v
}

// crioDriver finds cgroup_manager in a crio.conf.
func crioDriver(text string) (driver, key string) {
	value, found := tomlKey(text, "cgroup_manager")
	value = strings.Trim(value, `"'`)
	if !found || value != "systemd" && value != "cgroupfs" {
		return "", ""
	}
	return value, "cgroup_manager = " + value
}

// dockerDriver finds native.cgroupdriver in a daemon.json, which cri-dockerd
// passes on.
func dockerDriver(text string) (driver, key string) {
	var config struct {
		ExecOpts []string `json:"exec-opts"`
	}
	if json.Unmarshal([]byte(text), &config) != nil {
		return "", ""
	}
	for _, opt := range config.ExecOpts {
		value, found := strings.CutPrefix(opt, "native.cgroupdriver=")
		if found && (value == "systemd" || value == "cgroupfs") {
			return value, opt
		}
	}
	return "", ""
}

// tomlKey finds the last assignment of a key, in whatever table. It is no parser
// of TOML: one key with a plain value is all that is asked.
func tomlKey(text, key string) (value string, found bool) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		name, rest, is := strings.Cut(line, "=")
		if is && strings.TrimSpace(name) == key {
			value, found = strings.TrimSpace(rest), true
		}
	}
	return value, found
}
