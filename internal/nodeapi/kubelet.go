package nodeapi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kqos/kqos/internal/input"
)

// ErrNotAsked is why a kubelet is not run to tell its version: who runs it may not
// be trusted with that.
var ErrNotAsked = errors.New("it is not asked for its version")

// Kubelet is a kubelet that runs on the host.
type Kubelet struct {
	PID int
	// CgroupRoot, Config, ConfigDir, RootDir and Hostname are its flags
	// --cgroup-root, --config, --config-dir, --root-dir and --hostname-override,
	// empty where they are not given.
	CgroupRoot, Config, ConfigDir, RootDir, Hostname string
	// Args is its command line after the name; empty where Within names a program.
	Args []string
	// Within names the program that the kubelet is a part of, k3s or kubelite
	// (MicroK8s), whose command line does not tell the kubelet's.
	Within string
}

// FindKubelet looks for a running kubelet among the processes of the host below
// root. It returns nil when there is none.
func FindKubelet(root string) (*Kubelet, error) {
	proc := filepath.Join(root, "proc")
	entries, err := os.ReadDir(proc)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for a kubelet: %w", err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// A process may end between the two steps; then it is no kubelet that works.
		line, err := input.File(filepath.Join(proc, e.Name(), "cmdline"), input.Config)
		if err != nil {
			continue
		}
		if k := parseKubelet(strings.Split(string(line), "\x00")); k != nil {
			k.PID = pid
			return k, nil
		}
	}
	return nil, nil
}

// parseKubelet reads a command line, nil unless it is a kubelet's.
func parseKubelet(args []string) *Kubelet {
	if within := kubeletWithin(args); within != "" {
		return &Kubelet{Within: within}
	}
	// OpenShift once called its kubelet as "hyperkube kubelet".
	if filepath.Base(args[0]) == "hyperkube" && len(args) > 1 {
		args = args[1:]
	}
	if filepath.Base(args[0]) != "kubelet" {
		return nil
	}
	return ParseKubelet(args[1:])
}

// kubeletWithin recognizes programs that run a kubelet as a part of theirs.
//
// k3s: pkg/cli/cmds/log_default.go sets the title of its process to "k3s server"
// or "k3s agent", one word of the command line. MicroK8s: the snap's daemon
// kubelite.
func kubeletWithin(args []string) string {
	words := strings.Fields(args[0])
	if len(args) > 1 {
		words = append(words, args[1])
	}
	if len(words) == 0 {
		return ""
	}
	switch name := filepath.Base(words[0]); {
	case name == "kubelite":
		return name
	case name == "k3s" && len(words) > 1 && (words[1] == "server" || words[1] == "agent"):
		return name
	}
	return ""
}

// ParseKubelet reads the flags of a kubelet.
func ParseKubelet(args []string) *Kubelet {
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "" })
	k := &Kubelet{Args: args}
	for i, arg := range args {
		name, value, ok := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		if !ok && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "cgroup-root":
			k.CgroupRoot = value
		case "config":
			k.Config = value
		case "config-dir":
			k.ConfigDir = value
		case "hostname-override":
			k.Hostname = value
		case "root-dir":
			k.RootDir = value
		}
	}
	return k
}
