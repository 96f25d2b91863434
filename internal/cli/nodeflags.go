package cli

import (
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/launch"
)

// nodeFlags describe the node: the kubelet's configuration, the machine, and
// how cgroups are driven.
type nodeFlags struct {
	config        string
	configDir     string
	featureGates  string
	topology      string
	capacity      []string
	driver        string
	cgroupVersion string
	kubernetes    string
	hostRoot      string
	// nodes are the Node objects of the input: they tell a kubelet's version.
	nodes []*corev1.Node
	// live says that the command writes to this host: driver and version are its
	// own, whatever machine the values are computed for.
	live bool
	// refusalsWarn has a configuration that the kubelet would refuse warn, and
	// its defaults taken: for commands that answer all the same.
	refusalsWarn bool
	// hostConfig says that the command is about this host whatever is named: its
	// limits count, and the configuration of its own kubelet where none is named.
	hostConfig bool
	// defaultsMatter has it told where the kubelet's defaults are taken: for
	// commands whose whole answer rests on them.
	defaultsMatter bool
	// oneLine says that the answer is one line for a program, with no notice
	// beside it.
	oneLine bool
	// askUntil is when questions to the node's programs end; zero leaves each its
	// own time.
	askUntil time.Time
	// given says whether a flag stands on the command line.
	given func(flag string) bool
	// kubelet is the one of this host whose configuration holds; nil where it is
	// not asked or there is none.
	kubelet *launch.Kubelet
}

func (n *nodeFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	n.given = f.Changed
	f.StringVar(&n.config, "config", "", "KubeletConfiguration (YAML, JSON, /configz answer, - for stdin); default: that of this host's kubelet; empty: the kubelet's defaults")
	f.StringVar(&n.configDir, "config-dir", "", "folder of drop-ins (*.conf), merged as the kubelet does")
	f.StringVar(&n.featureGates, "feature-gates", "", "gates A=true,B=false; they win over the file")
	f.StringVar(&n.topology, "topology", "", "machine: a snapshot, MachineInfo JSON, hwloc XML, sysfs folder or archive, synthetic:…; default: this host")
	f.StringSliceVar(&n.capacity, "capacity", nil, "override capacity: cpu=8,memory=32Gi,ephemeral-storage=…,pid=…,swap=…,hugepages-2Mi=…")
	f.StringVar(&n.driver, "driver", "auto", "cgroup driver: auto, cgroupfs, systemd")
	f.StringVar(&n.cgroupVersion, "cgroup-version", "auto", "cgroup version: auto, 1, 2")
	f.StringVar(&n.kubernetes, "kubernetes-version", "auto", "whose rules: "+anyOf(knownVersions())+", or auto: the running kubelet's, else those of a Node in the input, else the last")
	f.StringVar(&n.hostRoot, "host-root", "/", "prefix for /proc, /sys, /etc, /var and /run, or an archive that kqos collect made")
	completeList(cmd, "capacity", capacityValues()...)
	completeGates(cmd)
	_ = cmd.RegisterFlagCompletionFunc("topology", completeTopology)
	_ = cmd.MarkFlagFilename("config", "yaml", "yml", "json", "conf")
	completeWith(cmd, "driver", "auto", "cgroupfs", "systemd")
	completeWith(cmd, "cgroup-version", "auto", "1", "2")
	completeWith(cmd, "kubernetes-version", append([]string{"auto"}, knownVersions()...)...)
}

// check refuses words that no value of the flag has.
func (n *nodeFlags) check() error {
	if err := checkWord("driver", n.driver, "auto", "cgroupfs", "systemd"); err != nil {
		return err
	}
	return checkWord("cgroup-version", n.cgroupVersion, "auto", "1", "2")
}
