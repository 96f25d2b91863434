package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/manifest"
)

// allocatableOptions are what the allocatable command was asked for.
type allocatableOptions struct {
	files     []string
	recursive bool
	node      nodeFlags
	out       outputFlags
	validate  bool
	against   string
	other     otherSource
	suggest   int
	splitNUMA bool
}

func newAllocatable(a *app) *cobra.Command {
	o := &allocatableOptions{}
	cmd := &cobra.Command{
		Use:   "allocatable [FILE|FOLDER|-]...",
		Short: "What a kubelet configuration leaves to pods, and what it enforces",
		Long: `allocatable tells what a kubelet with this configuration leaves to pods on this
machine: capacity minus systemReserved, kubeReserved, the hard eviction
thresholds and the huge pages, each step with the field it comes from, and the
limits that the kubelet then sets on kubepods and on reserved cgroups. Those of
kubepods leave the eviction threshold and the huge pages out, on purpose:
eviction acts before the limit does.

pid is what kubepods may use; the node's status does not list it.

A KubeletConfiguration or a Machine among the files is used as --config and
--topology. --validate judges the configuration alone, with every finding of
the kubelet at once. --against shows what another configuration, or a Node
object, changes, and exits 1 if anything does.`,
		Example: `  kqos allocatable --config /var/lib/kubelet/config.yaml
  kqos allocatable testdata/node
  kqos allocatable --config kubelet.yaml --topology synthetic:cores=64,threads=2,memory=512Gi --capacity ephemeral-storage=1Ti
  kqos allocatable --validate --config kubelet.yaml --config-dir kubelet.conf.d
  kqos allocatable --config old.yaml --against new.yaml
  kubectl get node web-1 -o json > web-1.json; kqos allocatable --config kubelet.yaml --against web-1.json
  kqos allocatable --suggest-reserved 2 --split-numa
  kqos allocatable testdata/node -o jsonpath='{.allocatable.memory}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.files = slices.Concat(args, o.files)
			return o.run(cmd.Context(), a)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.files, "filename", "f", nil, "file, folder or - (stdin) with a KubeletConfiguration or a Machine; repeatable")
	f.BoolVarP(&o.recursive, "recursive", "R", false, "read folders with all below them")
	f.BoolVar(&o.validate, "validate", false, "tell all findings of the kubelet on the configuration, and exit 1 if there are any")
	f.StringVar(&o.against, "against", "", "another KubeletConfiguration or a Node object to compare with")
	f.IntVar(&o.suggest, "suggest-reserved", 0, "print the configuration lines that reserve this many whole cores")
	f.BoolVar(&o.splitNUMA, "split-numa", false, "spread the suggested cores over the NUMA nodes")
	o.node.add(cmd)
	o.node.defaultsMatter = true
	o.out.add(cmd, "csv")
	cmd.MarkFlagsMutuallyExclusive("validate", "against", "suggest-reserved")
	return cmd
}

func (o *allocatableOptions) check() error {
	switch {
	case o.suggest < 0:
		return errors.New("--suggest-reserved must be a number of cores")
	case o.splitNUMA && o.suggest == 0:
		return errors.New("--split-numa belongs to --suggest-reserved N")
	case o.node.config == "-" && slices.Contains(o.files, "-"):
		return errors.New("--config - and inputs from - can't both read stdin")
	}
	return o.out.check()
}

func (o *allocatableOptions) run(ctx context.Context, a *app) error {
	if err := o.check(); err != nil {
		return err
	}
	config, machine, err := o.documents(a)
	if err != nil {
		return err
	}
	if o.suggest > 0 {
		return o.suggestReserved(ctx, a, machine)
	}
	if o.validate && config != nil && config.File != "-" {
		// The kubelet judges the file, not a document of it.
		o.node.config, config = config.File, nil
	}
	if err := o.readOther(); err != nil {
		return err
	}
	n, err := o.node.load(ctx, a, config, machine)
	if err != nil {
		return o.showRefusal(a, err)
	}
	if o.validate {
		return o.showFindings(a, n.config.Source, o.findings(n))
	}
	findings, ofHost := startFindings(n)
	result := newNodeAllocatable(n)
	for _, f := range ofHost {
		if f.Field == "failCgroupV1" && o.node.cgroupVersion != "auto" {
			findings = append(findings, f)
			continue
		}
		result.Warnings = append(result.Warnings, f.Message)
	}
	if len(findings) > 0 {
		return o.showFindings(a, n.config.Source, findings)
	}
	for _, w := range result.Warnings {
		a.logger().Warn(w)
	}
	// Loading told its own warnings.
	result.Warnings = slices.Concat([]string{}, n.config.Warnings, result.Warnings)
	if o.against != "" {
		return o.compare(a, n, result)
	}
	return o.out.print(a, allocatableView(result))
}

// documents finds the configuration and the machine among the inputs.
func (o *allocatableOptions) documents(a *app) (config, machine *manifest.Document, err error) {
	if len(o.files) == 0 {
		return nil, nil, nil
	}
	in := manifest.Read(o.files, manifest.Options{Stdin: a.In, Recursive: o.recursive})
	for _, e := range in.Errors {
		err = errors.Join(err, e)
	}
	if err != nil {
		return nil, nil, err
	}
	o.node.nodes = in.Nodes
	if config, err = only(in.KubeletConfigs, "KubeletConfiguration", "--config", o.node.config != ""); err != nil {
		return nil, nil, err
	}
	machine, err = only(in.Machines, "Machine", "--topology", o.node.topology != "")
	if err == nil && config == nil && machine == nil && o.node.config == "" && o.node.topology == "" {
		err = errors.New("no KubeletConfiguration and no Machine among the inputs")
	}
	return config, machine, err
}

// onNode is the node that allocatable is computed on.
func (n *node) onNode() allocatable.Node {
	on := allocatable.NewNode(n.machine, n.capacity, n.cgroupVersion)
	on.From = n.capacityFrom
	return on
}
