package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kqos/kqos/internal/inspect/doctor"
	"github.com/kqos/kqos/internal/nodeapi"
)

// doctorOptions are what the doctor command was asked for.
type doctorOptions struct {
	node     nodeFlags
	output   outputFlags
	stateDir string
	only     []string
	ignore   []string
	repair   bool
	start    bool
	// named says that --host-root was given: then the host is judged even when
	// the machine is another.
	named bool
}

func newDoctor(a *app) *cobra.Command {
	o := &doctorOptions{}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Will the kubelet start on this node, and is the node fit for it?",
		Long: `doctor looks at a node as the kubelet would at its start, and at what goes wrong
later: named checks, each with evidence and the command that mends it. What the
kubelet would say stands in its own words.

The configuration is that of --config, else that of the host's kubelet, found as
'kqos help node' says, else the kubelet's defaults. With --topology the machine is
the one named, and this host is not looked at unless --host-root says so. Nothing
is written without --repair.

--start walks the kubelet's start step by step, to the step at which it stops.
--repair corrects checkpoint files that the kubelet refuses, or moves them away,
and keeps a backup beside each; the kubelet must not run.
-o short is one line, with exit code 0, 1 or 2, for node-problem-detector.`,
		Example: `  kqos doctor
  kqos doctor --config /var/lib/kubelet/config.yaml --only reserved-cgroups,driver-agreement
  kqos doctor --start
  kqos doctor --host-root node.tar.gz -o wide
  kqos doctor --config new.yaml --cgroup-version 2
  kqos doctor --config kubelet.yaml --topology machine.json --state-dir /var/lib/kubelet
  kqos doctor list
  kqos doctor explain cpu-state`,
		Args:              noCommand,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.named = cmd.Flags().Changed("host-root")
			return o.run(cmd.Context(), a)
		},
	}
	o.node.add(cmd)
	o.output.add(cmd, "short")
	f := cmd.Flags()
	f.StringVar(&o.stateDir, "state-dir", "", "folder of the kubelet's checkpoint files; default: var/lib/kubelet below --host-root")
	f.StringSliceVar(&o.only, "only", nil, "run these checks only (ids, see 'kqos doctor list')")
	f.StringSliceVar(&o.ignore, "ignore", nil, "leave these checks out")
	f.BoolVar(&o.repair, "repair", false, "correct checkpoint files that the kubelet refuses, with a backup")
	f.BoolVar(&o.start, "start", false, "walk the kubelet's start, to the step at which it stops")
	cmd.MarkFlagsMutuallyExclusive("start", "only")
	cmd.MarkFlagsMutuallyExclusive("start", "ignore")
	cmd.MarkFlagsMutuallyExclusive("start", "repair")
	completeList(cmd, "only", checkIDs()...)
	completeList(cmd, "ignore", checkIDs()...)
	cmd.AddCommand(newDoctorList(a), newDoctorExplain(a))
	return cmd
}

func (o *doctorOptions) run(ctx context.Context, a *app) error {
	if err := o.output.check(); err != nil {
		return err
	}
	checks, err := chooseChecks(o.only, o.ignore)
	if err != nil {
		return err
	}
	facts, err := o.facts(ctx, a)
	if err != nil {
		return err
	}
	if facts.Host != nil {
		a.warnPartial(o.node.hostRoot)
	}
	if o.start {
		return o.showStart(a, facts)
	}
	results := doctor.Run(facts, checks)
	if o.repair && a.unpacked != "" && o.stateDir == "" {
		return errors.New("--repair: the files of an archive are a copy: name their folder with --state-dir")
	}
	if o.repair {
		if err := o.mend(a, facts); err != nil {
			return err
		}
	}
	return o.show(a, results)
}

// facts reads the node. A configuration that the kubelet would refuse is a fact,
// too.
func (o *doctorOptions) facts(ctx context.Context, a *app) (*doctor.Facts, error) {
	root := o.node.hostRoot
	if o.node.topology != "" && !o.named {
		root = ""
	}
	o.node.hostConfig, o.node.oneLine = root != "", o.output.format == "short"
	n, refused := o.node.load(ctx, a, nil, nil)
	if refusedContent(refused) {
		flags := o.node
		flags.config, flags.configDir, flags.featureGates, flags.hostConfig = "", "", "", false
		var err error
		if n, err = flags.load(ctx, a, nil, nil); err != nil {
			return nil, err
		}
		n.config.Source = or(o.node.config, "the node's own configuration")
	} else if refused != nil {
		return nil, refused
	}
	options := doctor.Options{
		Root: root, Config: n.config, ConfigError: refused, Driver: n.driver, CgroupVersion: n.cgroupVersion,
		Machine: n.machine, Node: n.onNode(), StateDir: o.stateDir, Meant: meant,
	}
	if root != "" {
		options.Sockets, options.Systemd = nodeapi.RuntimeSockets(root), nodeapi.SystemdSockets(root)
	}
	return doctor.Read(ctx, options)
}

func newDoctorList(a *app) *cobra.Command {
	var output outputFlags
	cmd := &cobra.Command{
		Use: "list", Short: "The checks of doctor, one a line", Args: cobra.NoArgs,
		Example:           "  kqos doctor list\n  kqos doctor list -o name",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if err := output.check(); err != nil {
				return err
			}
			return output.print(a, checkListView())
		},
	}
	output.add(cmd)
	return cmd
}

func newDoctorExplain(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "explain ID", Short: "What a check looks at, and why", Args: cobra.ExactArgs(1),
		Example:   "  kqos doctor explain reserved-cgroups",
		ValidArgs: checkIDs(),
		RunE: func(_ *cobra.Command, args []string) error {
			chosen, err := chooseChecks(args, nil)
			if err != nil {
				return err
			}
			c := chosen[0]
			_, err = fmt.Fprintf(a.Out, "%s: %s\n\n%s\n", c.ID, c.Title, c.Explain)
			return err
		},
	}
}

// checkIDs are the names of all checks.
func checkIDs() []string {
	var ids []string
	for _, c := range doctor.Checks() {
		ids = append(ids, c.ID)
	}
	return ids
}

// chooseChecks are the checks to run; of a name that no check has the nearest is
// told.
func chooseChecks(only, ignore []string) ([]doctor.Check, error) {
	checks, err := doctor.Choose(doctor.Checks(), only, ignore)
	if id, unknown := errors.AsType[doctor.UnknownCheckError](err); unknown {
		err = fmt.Errorf("%w%s; see 'kqos doctor list'", err, didYouMean(string(id), checkIDs()))
	}
	return checks, err
}

// failed says whether any result is a failure.
func failed(results []doctor.Result) bool {
	return slices.ContainsFunc(results, func(r doctor.Result) bool { return r.Status == doctor.Fail })
}
