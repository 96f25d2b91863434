package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/render"
)

// topologyOptions are what the topology command was asked for.
type topologyOptions struct {
	pods      podFlags
	node      nodeFlags
	output    outputFlags
	stateDir  string
	nodeName  string
	suggest   int
	splitNUMA bool
}

func newTopology(a *app) *cobra.Command {
	o := &topologyOptions{}
	cmd := &cobra.Command{
		Use:   "topology [FILE|FOLDER|-]...",
		Short: "The machine as the kubelet sees it, drawn and with its CPUs marked",
		Long: `topology shows the machine under a kubelet: its sockets, NUMA nodes, last level
caches, cores and CPUs, memory, huge pages and devices. Where the hardware and
the kubelet's view through cAdvisor differ, the kubelet's decides and the
hardware's is kept beside it; what was assumed is told.

--topology reads a machine from elsewhere, told by content: a kqos snapshot, a
cadvisor MachineInfo, an hwloc XML (lstopo --of xml), a folder or archive of
/sys and /proc (a ghw snapshot, too), a NodeResourceTopology, or
synthetic:sockets=2,numa=2,llc=2,cores=64,threads=2,memory=512Gi or hwloc's
synthetic:'pack:2 numa:1 l3:4 core:8 pu:2'. Of an archive with several
machines, FILE#FOLDER names one.

With a configuration, checkpoint files (--state-dir) or pods, each CPU is marked
reserved, exclusive (and whose), shared, isolated or offline. Pods are placed as
the kubelet would, after what the checkpoint files hold.

-o json and yaml print a snapshot that --topology reads again. -o nrt prints a
NodeResourceTopology, -o synthetic the description that makes this machine
again, or why none can.`,
		Example: `  kqos topology
  kqos topology -o tree
  kqos topology --topology node.tar.gz -o svg > node.svg
  kqos topology --topology synthetic:sockets=2,numa=8,llc=16,cores=128,threads=2 -o wide
  kqos topology --config /var/lib/kubelet/config.yaml --state-dir /var/lib/kubelet -o tree
  kqos topology testdata/node -o tree
  kqos topology --topology machineinfo.json -o json > snapshot.json
  kqos topology --suggest-reserved 2 --split-numa`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, args)
		},
	}
	o.pods.add(cmd)
	o.node.add(cmd)
	o.output.add(cmd, "tree", "svg", "nrt", "synthetic")
	f := cmd.Flags()
	f.StringVar(&o.stateDir, "state-dir", "", "folder of the kubelet's checkpoint files, such as /var/lib/kubelet: marks who has which CPUs")
	f.StringVar(&o.nodeName, "node-name", "node", "name of the object that -o nrt prints")
	f.IntVar(&o.suggest, "suggest-reserved", 0, "print the configuration lines that reserve this many whole cores")
	f.BoolVar(&o.splitNUMA, "split-numa", false, "spread the suggested cores over the NUMA nodes")
	return cmd
}

func (o *topologyOptions) check() error {
	switch {
	case o.suggest < 0:
		return errors.New("--suggest-reserved must be a number of cores")
	case o.splitNUMA && o.suggest == 0:
		return errors.New("--split-numa belongs to --suggest-reserved N")
	}
	return o.output.check()
}

func (o *topologyOptions) run(ctx context.Context, a *app, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	in, n, err := o.load(ctx, a, args)
	if err != nil {
		return err
	}
	if n.machine == nil {
		// Loading leaves a host that cannot be read at that; here it is the question.
		_, err := machine.Detect(ctx, o.node.hostRoot)
		return fmt.Errorf("%w; name a machine with --topology", err)
	}
	if o.suggest > 0 {
		return suggestReserved(a, &o.output, n.machine, o.suggest, o.splitNUMA)
	}
	for _, assumption := range n.machine.Assumptions {
		a.logger().Warn(assumption)
	}
	use, marked, err := o.use(a, n, in)
	if err != nil {
		return err
	}
	if err := o.output.print(a, o.view(n.machine, use, marked)); err != nil {
		return err
	}
	if in == nil {
		return nil
	}
	return in.err()
}

// load reads the node, and pods where any inputs are named.
func (o *topologyOptions) load(ctx context.Context, a *app, args []string) (*podInput, *node, error) {
	if len(args)+len(o.pods.files) > 0 {
		return o.pods.load(ctx, a, args, &o.node)
	}
	n, err := o.node.load(ctx, a, nil, nil)
	return nil, n, err
}

// view shows the machine; marked says whether anything is known of its use.
func (o *topologyOptions) view(m *machine.Machine, use machine.Use, marked bool) view {
	marks := m.Marks(use)
	v := view{object: m, pictures: map[string]func(io.Writer, render.Style) error{
		"tree": func(w io.Writer, s render.Style) error { return render.MachineTree(w, m, marks, s) },
		"svg":  func(w io.Writer, _ render.Style) error { return render.MachineSVG(w, m, marks, "") },
		"nrt": func(w io.Writer, s render.Style) error {
			return render.Object(w, "yaml", m.NRT(o.nodeName, use.Reserved), s)
		},
		"synthetic": func(w io.Writer, _ render.Style) error {
			text, err := m.Synthetic()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(w, text)
			return err
		},
	}}
	for _, n := range m.NUMA {
		v.names = append(v.names, fmt.Sprintf("numa/%d", n.ID))
	}
	v.text = func(w io.Writer, s render.Style) error {
		if err := nodeTable(m, marks, marked).Print(w, s); err != nil || !s.Wide {
			return err
		}
		for _, t := range []render.Table{cpuTable(m, marks), pciTable(m), deviceTable(m)} {
			if len(t.Rows) == 0 {
				continue
			}
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
			if err := t.Print(w, s); err != nil {
				return err
			}
		}
		return nil
	}
	return v
}

// configured says whether the kubelet's configuration was named.
func (o *topologyOptions) configured(in *podInput) bool {
	return o.node.kubelet != nil || o.node.config != "" || o.node.configDir != "" || o.node.featureGates != "" || in != nil && len(in.KubeletConfigs) > 0
}
