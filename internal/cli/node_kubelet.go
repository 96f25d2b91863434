package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/launch"
)

// hostKubelet takes the configuration of the kubelet of this host, as far as it
// can be found.
func (n *nodeFlags) hostKubelet(o kubelet.LoadOptions) kubelet.LoadOptions {
	if n.kubelet = launch.Find(n.hostRoot); n.kubelet != nil {
		o.File, o.Dir, o.Flags = n.kubelet.Config, n.kubelet.ConfigDir, n.kubelet.Flags
	}
	return o
}

// tellKubelet says which files the configuration of this host's kubelet was
// read from, and what could not be read. That is an error where the host is to be
// changed.
func (n *nodeFlags) tellKubelet(a *app, c *kubelet.Config) error {
	text := "no kubelet is set up on this host: the kubelet's defaults are taken; --config names a configuration"
	switch {
	case n.kubelet != nil:
		text = n.describeKubelet(c)
	case !n.defaultsMatter:
		return nil
	}
	if !n.oneLine {
		a.notice(text)
	}
	if n.kubelet == nil {
		return nil
	}
	const wayOut = "run as root, or name a copy with --config or --config-dir"
	for _, missing := range n.kubelet.Missing {
		if n.live && !n.hostConfig {
			return fmt.Errorf("this host's kubelet reads a file that can't be read here: %w; %s", missing, wayOut)
		}
		a.logger().Warn(fmt.Sprintf("this host's kubelet reads a file that can't be read here, so its defaults are taken: %v; %s", missing, wayOut))
	}
	return nil
}

// describeKubelet is the sentence on where the configuration is from.
func (n *nodeFlags) describeKubelet(c *kubelet.Config) string {
	k := n.kubelet
	var parts []string
	for _, file := range []string{k.Config, k.ConfigDir} {
		if file != "" {
			// Of an archive the folder that it was unpacked to tells nobody anything.
			parts = append(parts, "/"+strings.TrimPrefix(strings.TrimPrefix(file, filepath.Clean(n.hostRoot)), "/"))
		}
	}
	if len(c.Flags) > 0 {
		flags := "--" + strings.Join(c.Flags, " --")
		if len(k.From) > 0 {
			flags += " of " + strings.Join(k.From, ", ")
		}
		parts = append(parts, flags)
	}
	if len(parts) == 0 {
		parts = []string{"the kubelet's defaults"}
	}
	whose := "this host's kubelet"
	if k.Distribution != "" {
		whose += " (" + k.Distribution + ")"
	}
	return fmt.Sprintf("the configuration is that of %s: %s; --config names another", whose, strings.Join(parts, ", "))
}

// kubeletDir is the root directory of this host's kubelet, where its checkpoint
// files are.
func (n *nodeFlags) kubeletDir() string {
	k := n.kubelet
	if k == nil {
		k = launch.Find(n.hostRoot)
	}
	if k == nil {
		return filepath.Join(n.hostRoot, launch.DefaultRootDir)
	}
	return filepath.Join(n.hostRoot, k.RootDir)
}
