package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/cgroups/driver"
	"github.com/kqos/kqos/internal/input"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/manifest"
	"github.com/kqos/kqos/internal/nodeapi"
)

// node is what the node flags describe.
type node struct {
	config *kubelet.Config
	// machine is nil where neither --topology nor this host tells it.
	machine *machine.Machine
	// elsewhere says that the machine was named and need not be this host.
	elsewhere bool
	// capacity holds cpu, memory, ephemeral-storage, hugepages-*, pid and swap as
	// far as they are known.
	capacity corev1.ResourceList
	// capacityFrom names the flag of those that one set.
	capacityFrom  map[corev1.ResourceName]string
	driver        string
	cgroupVersion int
	// unverified, if not empty, says why the rules may not be the kubelet's own.
	unverified string
}

// load reads everything that the node flags name. The documents are a
// KubeletConfiguration and a Machine found among the positional inputs, used
// where --config and --topology are absent; either may be nil.
func (n *nodeFlags) load(ctx context.Context, a *app, configDocument, machineDocument *manifest.Document) (*node, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	elsewhere := machineDocument != nil || n.topology != ""
	r, err := n.chooseRules(ctx, a, n.nodes, elsewhere)
	if err != nil {
		return nil, err
	}
	config, err := n.loadConfig(a, configDocument, r.minor, elsewhere)
	if err != nil {
		return nil, err
	}
	if r.unverified != "" {
		a.logger().Warn(r.unverified)
	}
	found := &node{config: config, elsewhere: elsewhere, unverified: r.unverified}
	found.driver = n.chooseDriver(ctx, a, config, machineDocument != nil)
	found.cgroupVersion = n.chooseVersion(machineDocument != nil)
	if found.machine, err = n.loadMachine(ctx, a, machineDocument); err != nil {
		return nil, err
	}
	if found.capacity, found.capacityFrom, err = n.loadCapacity(ctx, found.machine, found.elsewhere && !n.hostConfig); err != nil {
		return nil, err
	}
	return found, nil
}

// loadConfig reads --config, else the document found among the inputs, else, on
// this host, what its kubelet has, else takes the kubelet's defaults.
func (n *nodeFlags) loadConfig(a *app, document *manifest.Document, minor kubelet.Minor, elsewhere bool) (*kubelet.Config, error) {
	gates, err := kubelet.ParseGates(n.featureGates)
	if err != nil {
		return nil, fmt.Errorf("--feature-gates: %w", err)
	}
	o := kubelet.LoadOptions{File: n.config, Dir: n.configDir, Gates: gates, Minor: minor}
	switch {
	case n.config == "-":
		if o.Data, err = a.read(n.config, input.Config); err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
	case n.config == "" && document != nil:
		o.File, o.Data = document.File, document.Data
	case n.asksHost(elsewhere):
		o = n.hostKubelet(o)
	}
	config, err := kubelet.Load(o)
	if n.refusalsWarn && o.File+o.Dir != "" && refusedContent(err) {
		a.logger().Warn(fmt.Sprintf("the kubelet would refuse the configuration, its defaults are taken instead: %v", withMeant(err)))
		config, err = kubelet.Load(kubelet.LoadOptions{Gates: o.Gates, Minor: o.Minor})
	}
	if err != nil {
		return nil, withMeant(err)
	}
	if n.asksHost(elsewhere) && document == nil {
		if err := n.tellKubelet(a, config); err != nil {
			return nil, err
		}
	}
	for _, w := range config.Warnings {
		a.logger().Warn(w + meantField(w))
	}
	return config, nil
}

// asksHost says whether the configuration is that of this host's kubelet: where
// none is named and the machine is this host. --config= asks for the kubelet's
// defaults.
func (n *nodeFlags) asksHost(elsewhere bool) bool {
	named := n.config != "" || n.configDir != "" || n.given != nil && n.given("config")
	return !named && (n.hostConfig || !elsewhere)
}

// refusedContent tells a configuration that was read and is refused from one
// that can't be read.
func refusedContent(err error) bool {
	_, is := errors.AsType[*kubelet.LoadError](err)
	_, unreadable := errors.AsType[*fs.PathError](err)
	return is && !unreadable
}

// loadMachine reads --topology, else the document found among the inputs, else
// this host. A host that can't be read is nil, with the reason at -v: few
// answers need it.
func (n *nodeFlags) loadMachine(ctx context.Context, a *app, document *manifest.Document) (*machine.Machine, error) {
	switch {
	case n.topology != "":
		return machine.Load(ctx, n.topology)
	case document != nil:
		m, err := machine.Parse(ctx, document.Data)
		if err != nil {
			return nil, fmt.Errorf("%s: document %d: %w", document.File, document.Number, err)
		}
		m.Source = document.File
		return m, nil
	}
	m, err := machine.Detect(ctx, n.hostRoot)
	if err != nil {
		a.logger().Info("the machine of this host is unknown", "reason", err)
		return nil, nil
	}
	return m, nil
}

// chooseDriver resolves auto: the runtime's answer, else the configuration's own
// word, else what suits this host; without a host, systemd.
func (n *nodeFlags) chooseDriver(ctx context.Context, a *app, c *kubelet.Config, elsewhere bool) string {
	if n.driver != "auto" {
		return n.driver
	}
	elsewhere = (elsewhere || n.topology != "") && !n.live
	if !elsewhere {
		ctx, cancel := n.asking(ctx)
		defer cancel()
		answer, err := nodeapi.CgroupDriver(ctx, n.runtimeSockets(c))
		if err == nil {
			if c.Written["cgroupDriver"] && c.CgroupDriver != answer {
				a.logger().Warn(fmt.Sprintf("cgroupDriver: the configuration says %s, the container runtime %s: the kubelet follows the runtime", c.CgroupDriver, answer))
			}
			return answer
		}
		a.logger().Debug("no runtime tells its cgroup driver", "reason", err)
	}
	switch {
	case c.Written["cgroupDriver"] && c.CgroupDriver == driver.Systemd:
		return driver.Systemd
	case c.Written["cgroupDriver"]:
		return driver.Cgroupfs
	case elsewhere:
		return driver.Systemd
	}
	return driver.HostDriver(n.hostRoot)
}

// runtimeSockets are where the host's runtime may listen, the one of the
// configuration first.
func (n *nodeFlags) runtimeSockets(c *kubelet.Config) []string {
	sockets := nodeapi.RuntimeSockets(n.hostRoot)
	if path, ok := strings.CutPrefix(c.ContainerRuntimeEndpoint, "unix://"); ok && c.Written["containerRuntimeEndpoint"] {
		sockets = append([]string{filepath.Join(n.hostRoot, path)}, sockets...)
	}
	return sockets
}

// chooseVersion resolves auto: this host's version, else 2.
func (n *nodeFlags) chooseVersion(elsewhere bool) int {
	switch n.cgroupVersion {
	case "1":
		return 1
	case "2":
		return 2
	}
	if (elsewhere || n.topology != "") && !n.live {
		return 2
	}
	if v := driver.HostVersion(n.hostRoot); v != 0 {
		return v
	}
	return 2
}
