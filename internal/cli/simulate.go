package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// simulateOptions are what the simulate command was asked for.
type simulateOptions struct {
	pods     podFlags
	node     nodeFlags
	output   outputFlags
	scenario string
	states   stateFlags
	explain  bool
	replicas bool
	// shorthand are the texts of --pod.
	shorthand []string
	fit       bool
	compare   bool
}

func newSimulate(a *app) *cobra.Command {
	o := &simulateOptions{}
	cmd := &cobra.Command{
		Use:   "simulate [FILE|FOLDER|-]...",
		Short: "Where pods would land, and why one is refused",
		Long: `simulate admits pods, in the order given, on a node as its kubelet would: the
topology, CPU, memory and device managers with their policies and options. It
tells which CPUs, NUMA nodes and devices each container gets, and what stood in
the way of a pod that is refused. The fit of the node's allocatable is not asked:
the managers run before it.

A pod counts once; with --replicas as often as its Deployment, StatefulSet or
other owner asks for. --state-dir starts from the kubelet's checkpoint files, the
pods in them running; --write-state writes the files that the kubelet would.

--scenario plays a file instead: a machine, a kubelet configuration, and events
that add and remove pods and restart the kubelet; one scenario, an array, or a
set with shared machines.

--fit goes on with copies of the last pod until one is refused. --compare admits
the pods under every topology policy, scope, CPU policy and set of its options,
best first, the configured one marked *; -o wide shows also what comes out alike.`,
		Example: `  kqos simulate testdata/node
  kqos simulate pod.yaml --config kubelet.yaml --topology synthetic:sockets=2,numa=2,cores=32,threads=2,memory=256Gi
  kqos simulate deploy.yaml --replicas --config kubelet.yaml --topology node.json -o json
  kqos simulate pod.yaml --config /var/lib/kubelet/config.yaml --state-dir /var/lib/kubelet --explain -o yaml
  kqos simulate --pod web=4/8Gi --pod db=16/64Gi --config kubelet.yaml --topology node.json -o svg > node.svg
  kqos simulate testdata/node --fit
  kqos simulate testdata/node --compare
  kqos simulate --scenario testdata/golden/placement/rejections.json -o jsonpath='{.items[*].name}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, args)
		},
	}
	o.pods.add(cmd)
	o.node.add(cmd)
	o.node.defaultsMatter = true
	o.output.add(cmd, "svg")
	o.states.add(cmd)
	f := cmd.Flags()
	f.StringVar(&o.scenario, "scenario", "", "play a scenario file (YAML or JSON, - for stdin) instead of pods")
	f.BoolVar(&o.explain, "explain", false, "add the hints of each provider, the merge step by step, and what decided a refusal")
	f.StringArrayVar(&o.shorthand, "pod", nil, "a Guaranteed pod as name=cpu[/memory], such as web=4/8Gi; repeatable, after those of files")
	f.BoolVar(&o.fit, "fit", false, "how many more copies of the last pod fit, and what stops the next; the node's allocatable counts too")
	f.BoolVar(&o.compare, "compare", false, "admit the pods under every policy and option that the gates allow, and tabulate")
	f.BoolVar(&o.replicas, "replicas", false, "admit as many pods as each template's owner asks for")
	return cmd
}

func (o *simulateOptions) run(ctx context.Context, a *app, args []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	if err := o.checkMode(); err != nil {
		return err
	}
	if o.scenario == "" {
		return o.runPods(ctx, a, args)
	}
	if len(args) > 0 || len(o.pods.files) > 0 || o.replicas || o.states.dir != "" {
		return errors.New("--scenario brings its own pods and files: leave out other inputs, --replicas and --state-dir")
	}
	if o.node.config+o.node.configDir+o.node.topology+o.node.featureGates != "" || len(o.node.capacity) > 0 {
		return errors.New("--scenario brings its own machine and kubelet: leave out --config, --config-dir, --feature-gates, --topology and --capacity")
	}
	return o.runScenarios(ctx, a)
}

// checkMode refuses flags that exclude each other.
func (o *simulateOptions) checkMode() error {
	switch {
	case o.compare && (o.fit || o.explain):
		return errors.New("--compare tabulates policies: leave out --fit and --explain")
	case o.compare && (o.states.dir != "" || o.states.write != ""):
		return errors.New("--compare starts each policy from an empty node: leave out --state-dir and --write-state")
	case o.compare && o.output.format == "svg":
		return errors.New("-o svg draws one simulation: leave out --compare")
	case o.scenario != "" && (o.compare || o.fit || len(o.shorthand) > 0):
		return errors.New("--scenario brings its own pods: leave out --pod, --fit and --compare")
	}
	return nil
}

// finish prints the results and turns them into the exit code. Those without a
// result were told as errors.
func (o *simulateOptions) finish(a *app, all []simulation, list bool, bad error) error {
	found := simulationList{typeMeta: kind("SimulationList"), Items: []simulation{}}
	refused := false
	for _, s := range all {
		if s.Result == nil {
			continue
		}
		for _, w := range s.Warnings {
			a.logger().Warn(fmt.Sprintf("%s: %s", s.Name, w))
		}
		found.Items = append(found.Items, s)
		refused = refused || s.Refused()
	}
	if bad == nil && len(found.Items) == 0 {
		a.logger().Warn("no scenario in the file")
	}
	if len(found.Items) > 0 || bad == nil {
		if err := o.output.print(a, simulateView(found, list)); err != nil {
			return err
		}
	}
	switch {
	case bad != nil:
		return bad
	case refused:
		return errFound
	}
	return nil
}
