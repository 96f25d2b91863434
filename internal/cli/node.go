package cli

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/cgroups/driver"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
)

// node is what the node flags describe.
type node struct {
	config *kubelet.Config
	// machine is nil where neither --topology nor this host tells it.
	machine *machine.Machine
	// capacity holds cpu, memory, ephemeral-storage, hugepages-*, pid and swap as
	// far as they are known.
	capacity      corev1.ResourceList
	driver        string
	cgroupVersion int
}

// load reads everything that the node flags name. The documents are a
// KubeletConfiguration and a Machine found among the positional inputs, used
// where --config and --topology are absent; either may be nil.
func (n *nodeFlags) load(ctx context.Context, a *app, configDocument, machineDocument []byte) (*node, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	config, err := n.loadConfig(a, configDocument)
	if err != nil {
		return nil, err
	}
	found := &node{config: config}
	found.driver = n.chooseDriver(config, machineDocument != nil)
	found.cgroupVersion = n.chooseVersion(machineDocument != nil)
	if found.machine, err = n.loadMachine(ctx, machineDocument); err != nil {
		return nil, err
	}
	if found.capacity, err = n.loadCapacity(found.machine); err != nil {
		return nil, err
	}
	return found, nil
}

func (n *nodeFlags) loadConfig(_ *app, _ []byte) (*kubelet.Config, error) {
	return kubelet.Default(), nil
}

func (n *nodeFlags) loadMachine(_ context.Context, _ []byte) (*machine.Machine, error) {
	return nil, nil
}

func (n *nodeFlags) loadCapacity(_ *machine.Machine) (corev1.ResourceList, error) {
	return nil, nil
}

// chooseDriver resolves auto: the configuration's own word, else what suits
// this host, else systemd.
func (n *nodeFlags) chooseDriver(c *kubelet.Config, elsewhere bool) string {
	switch {
	case n.driver != "auto":
		return n.driver
	case c.Written["cgroupDriver"] && c.CgroupDriver == driver.Systemd:
		return driver.Systemd
	case c.Written["cgroupDriver"]:
		return driver.Cgroupfs
	case elsewhere || n.topology != "":
		return driver.Systemd
	}
	return driver.HostDriver(n.hostRoot)
}

// chooseVersion resolves auto: this host's version, else 2.
func (n *nodeFlags) chooseVersion(elsewhere bool) int {
	switch n.cgroupVersion {
	case "1":
		return 1
	case "2":
		return 2
	}
	if elsewhere || n.topology != "" {
		return 2
	}
	if v := driver.HostVersion(n.hostRoot); v != 0 {
		return v
	}
	return 2
}
