package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/fleet"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	quantities "github.com/kqos/kqos/internal/quantity"
)

// fleetOptions are what the fleet command was asked for.
type fleetOptions struct {
	output                         outputFlags
	files                          []string
	configz, topologies, candidate string
	featureGates                   string
	fitPod                         []string
	exitCode                       bool
}

func newFleet(a *app) *cobra.Command {
	o := &fleetOptions{}
	cmd := &cobra.Command{
		Use:   "fleet [FILE|-]...",
		Short: "What is odd about the nodes of a cluster, and what still fits",
		Long: `fleet answers for all nodes of a cluster at once what the other commands answer
for one. It reads what kubectl lists, nodes and pods in any order, and opens no
connection itself. Memory does not grow with the list: pods are summed up as they
pass. The statuses are believed, that of a resize included.

Of each node it tells
  the requests of its pods by class, against allocatable: pod-level resources,
  sidecars, overhead and resizes counted as the scheduler counts them
  the containers that the kernel kills first when memory runs out
and with --configz, a folder of the kubelets' /configz answers named by node,
  allocatable by the configuration, and the term that makes it differ from the
  one that the node reports
and with --topologies, a folder of machines named by node (kqos topology -o json
  or kqos collect), or NodeResourceTopology objects in the stream before the pods,
  who would not be placed again after a restart, the largest Guaranteed pod that
  still fits, and the CPUs that nobody can get
What is not known is told as unknown. Nodes of equal configuration and machine
are one group, and those that differ from their peers are named.

--config-dir-candidate tells what a drop-in would change on each node, merged
onto its configuration as the last one. Each node is judged by the rules of its
own kubelet's version.`,
		Example: `  kubectl get nodes,pods -A -o json | kqos fleet
  kubectl get nodes,pods -A -o json | kqos fleet --configz configz/ -o wide
  kqos fleet cluster.json --topologies topologies/ --configz configz/ --fit-pod cpu=8,memory=16Gi
  kqos fleet cluster.json --configz configz/ --config-dir-candidate 90-reserve.conf
  kqos fleet cluster.json -o jsonpath='{.findings[?(@.id=="odd-one-out")].node}'`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	o.output.add(cmd, "csv")
	f := cmd.Flags()
	f.StringArrayVarP(&o.files, "filename", "f", nil, "list of nodes and pods, JSON or YAML, - for stdin; repeatable; default: stdin")
	f.StringVar(&o.configz, "configz", "", "folder of the kubelets' /configz answers, each named by its node: NODE.json")
	f.StringVar(&o.topologies, "topologies", "", "folder of machines, each named by its node: NODE.json, or NODE.tar.gz of kqos collect")
	f.StringVar(&o.candidate, "config-dir-candidate", "", "a drop-in, or a folder of them: tell what it would change on each node")
	f.StringVar(&o.featureGates, "feature-gates", "", "gates A=true,B=false that the kubelets' command lines set")
	f.StringSliceVar(&o.fitPod, "fit-pod", nil, "how many Guaranteed pods of this size each node admits: cpu=8,memory=16Gi")
	f.BoolVar(&o.exitCode, "exit-code", false, "exit 1 if anything was found")
	completeGates(cmd)
	completeList(cmd, "fit-pod", "cpu=", "memory=", "ephemeral-storage=", "hugepages-2Mi=", "hugepages-1Gi=")
	return cmd
}

func (o *fleetOptions) run(ctx context.Context, a *app, args []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	files := slices.Concat(args, o.files)
	if len(files) == 0 {
		files = []string{"-"}
	}
	options, folders, err := o.options()
	if err != nil {
		return err
	}
	shown := a.progress("objects")
	defer shown.end()
	options.Progress = func(n int) { shown.report(n, 0) }
	cluster := fleet.New(options)
	var broken error
	for _, file := range files {
		broken = errors.Join(broken, o.read(ctx, a, cluster, file))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if cluster.Input.Objects == 0 {
		return errors.Join(broken, errors.New("the input holds no object: give it what kubectl get nodes,pods -A -o json prints"))
	}
	for _, folder := range folders {
		cluster.Unused(folder.names())
	}
	report := cluster.Report(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	shown.end()
	lost := tellProblems(a, report.Input.Problems)
	if err := o.output.print(a, fleetView(report, len(o.fitPod) > 0)); err != nil {
		return err
	}
	switch {
	case broken != nil:
		return broken
	case lost:
		return errShown
	case o.exitCode && len(report.Findings) > 0:
		return errFound
	}
	return nil
}

func (o *fleetOptions) read(ctx context.Context, a *app, cluster *fleet.Cluster, file string) error {
	in := a.In
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("reading the list: %w", err)
		}
		defer f.Close()
		in = f
	} else if in == nil || isTerminalReader(in) {
		return errors.New("standard input is a terminal: kubectl get nodes,pods -A -o json | kqos fleet")
	}
	if err := cluster.Read(ctx, in); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

func isTerminalReader(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && isTerminal(f)
}

// tellProblems tells what is wrong with the input and whether it cost a part of
// the answer.
func tellProblems(a *app, problems []fleet.Problem) (lost bool) {
	for _, p := range problems {
		rest := ""
		if more := p.Count - len(p.Examples); more > 0 {
			rest = fmt.Sprintf(", and %d more", more)
		}
		text := fmt.Sprintf("%s: %d: %s%s", p.ID, p.Count, strings.Join(p.Examples, "; "), rest)
		switch {
		case p.ID == fleet.ProblemTruncated:
			// The error of reading tells it.
		case p.Lost && p.ID != fleet.ProblemDuplicate:
			lost = true
			a.logger().Error(text)
		default:
			a.logger().Warn(text)
		}
	}
	return lost
}

// options turn the flags into what the package asks for.
func (o *fleetOptions) options() (fleet.Options, []*nodeFiles, error) {
	gates, err := kubelet.ParseGates(o.featureGates)
	if err != nil {
		return fleet.Options{}, nil, fmt.Errorf("--feature-gates: %w", err)
	}
	options := fleet.Options{Findings: fleetFindings}
	var folders []*nodeFiles
	if options.FitPod, err = parseFitPod(o.fitPod); err != nil {
		return options, nil, err
	}
	configs := &fleetConfigs{gates: gates, candidate: o.candidate}
	if o.configz != "" {
		if configs.files, err = readNodeFiles(o.configz); err != nil {
			return options, nil, fmt.Errorf("--configz: %w", err)
		}
		folders = append(folders, configs.files)
	}
	if o.topologies != "" {
		machines, err := readNodeFiles(o.topologies)
		if err != nil {
			return options, nil, fmt.Errorf("--topologies: %w", err)
		}
		folders = append(folders, machines)
		options.HasTopology, options.Topology = machines.has, machines.topology
		configs.machines = machines
	}
	options.Config = configs.now
	if o.candidate != "" {
		if _, err := os.Stat(o.candidate); err != nil {
			return options, nil, fmt.Errorf("--config-dir-candidate: %w", err)
		}
		options.Candidate = configs.next
	}
	return options, folders, nil
}

// fleetFindings are those for which a kubelet would not start on a machine of
// that capacity.
func fleetFindings(c *kubelet.Config, m *machine.Machine, capacity corev1.ResourceList) []kubelet.Finding {
	findings, _ := startFindings(&node{config: c, machine: m, capacity: capacity, elsewhere: true, driver: or(c.CgroupDriver, "systemd"), cgroupVersion: 2})
	return findings
}

// parseFitPod reads the size of a Guaranteed pod.
func parseFitPod(pairs []string) (corev1.ResourceList, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	size := corev1.ResourceList{}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		q, err := quantities.Parse(text)
		if !ok || err != nil || q.Sign() <= 0 {
			return nil, fmt.Errorf("--fit-pod %s: must be RESOURCE=QUANTITY above 0, such as cpu=8,memory=16Gi", pair)
		}
		size[corev1.ResourceName(strings.TrimSpace(name))] = q
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if _, ok := size[name]; !ok {
			return nil, fmt.Errorf("--fit-pod: a Guaranteed pod needs %s", name)
		}
	}
	return size, nil
}
