// Package launch finds out how the kubelet of a host is started, or would be:
// its flags and the files that configure it, wherever the host's distribution
// of Kubernetes keeps them.
//
//	if k := launch.Find("/"); k != nil {
//		config, err := kubelet.Load(kubelet.LoadOptions{File: k.Config, Dir: k.ConfigDir, Flags: k.Flags})
//	}
package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/kqos/kqos/internal/input"
	"github.com/kqos/kqos/internal/nodeapi"
)

// DefaultRootDir is the kubelet's root directory where --root-dir names none.
//
// kubelet v1.37: cmd/kubelet/app/options/options.go defaultRootDir.
const DefaultRootDir = "/var/lib/kubelet"

// Kubelet is how a host's kubelet is started.
type Kubelet struct {
	// Distribution is what set it up, as kubeadm or k3s; empty where that can't
	// be told.
	Distribution string
	// PID is its process, 0 where none runs.
	PID int
	// Config and ConfigDir are the files of --config and --config-dir, with the
	// host's root in front; empty where it has none or Missing tells why.
	Config, ConfigDir string
	// RootDir is its root directory as the host names it.
	RootDir string
	// Flags is its command line, without the name.
	Flags []string
	// From are the files that tell the command line, as the host names them.
	From []string
	// Missing are files that the command line names and that can't be read.
	Missing []error
}

// Find looks for the kubelet of the host below root: the one that runs, else
// the one that systemd would start, else what a distribution left at its usual
// places. It returns nil where there is none.
func Find(root string) *Kubelet {
	h := host{root}
	// Without a readable /proc the files still tell.
	running, _ := nodeapi.FindKubelet(root)
	if running != nil && running.Within == "" {
		return h.started(running, path.Join("/proc", strconv.Itoa(running.PID), "cmdline"))
	}
	if running == nil {
		if k := h.systemd(); k != nil {
			return k
		}
	}
	for _, p := range places() {
		if running != nil && running.Within != p.within {
			continue
		}
		if k := h.left(p); k != nil {
			if running != nil {
				k.PID = running.PID
			}
			return k
		}
	}
	if running != nil {
		return &Kubelet{PID: running.PID, RootDir: DefaultRootDir}
	}
	return nil
}

// host is a file system below a root.
type host struct{ root string }

func (h host) path(name string) string { return filepath.Join(h.root, filepath.FromSlash(name)) }

func (h host) exists(name string) bool {
	_, err := os.Stat(h.path(name))
	return name != "" && err == nil
}

// read returns a file's text, empty where it can't be read.
func (h host) read(name string) (string, bool) {
	text, err := input.File(h.path(name), input.Config)
	return string(text), err == nil
}

// started is a kubelet with this command line, which the files tell.
func (h host) started(k *nodeapi.Kubelet, from ...string) *Kubelet {
	found := &Kubelet{PID: k.PID, Flags: k.Args, From: from, RootDir: DefaultRootDir}
	if k.RootDir != "" {
		found.RootDir = k.RootDir
	}
	found.Config = h.named(found, k.Config)
	found.ConfigDir = h.named(found, k.ConfigDir)
	for _, p := range places() {
		if p.of(h, k) {
			found.Distribution = p.distribution
			break
		}
	}
	return found
}

// named is where a file that the kubelet was told to read lies.
func (h host) named(k *Kubelet, name string) string {
	if name == "" {
		return ""
	}
	_, err := os.Stat(h.path(name))
	if err == nil {
		return h.path(name)
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	k.Missing = append(k.Missing, fmt.Errorf("%s: %w", name, err))
	return ""
}
