package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kqos/kqos/internal/simulate"
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
set with shared machines.`,
		Example: `  kqos simulate testdata/node
  kqos simulate pod.yaml --config kubelet.yaml --topology synthetic:sockets=2,numa=2,cores=32,threads=2,memory=256Gi
  kqos simulate deploy.yaml --replicas --config kubelet.yaml --topology node.json -o json
  kqos simulate pod.yaml --config /var/lib/kubelet/config.yaml --state-dir /var/lib/kubelet --explain -o yaml
  kqos simulate --scenario testdata/golden/placement/rejections.json -o jsonpath='{.items[*].name}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, args)
		},
	}
	o.pods.add(cmd)
	o.node.add(cmd)
	o.output.add(cmd)
	o.states.add(cmd)
	f := cmd.Flags()
	f.StringVar(&o.scenario, "scenario", "", "play a scenario file (YAML or JSON, - for stdin) instead of pods")
	f.BoolVar(&o.explain, "explain", false, "add the hints of each provider, the merge step by step, and what decided a refusal")
	f.BoolVar(&o.replicas, "replicas", false, "admit as many pods as each template's owner asks for")
	return cmd
}

func (o *simulateOptions) run(ctx context.Context, a *app, args []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	if o.scenario == "" {
		return o.runPods(ctx, a, args)
	}
	if len(args) > 0 || len(o.pods.files) > 0 || o.replicas || o.states.dir != "" {
		return errors.New("--scenario brings its own pods and files: leave out other inputs, --replicas and --state-dir")
	}
	return o.runScenarios(ctx, a)
}

// options say how the package is asked. A person always gets the explanations.
func (o *simulateOptions) options() (simulate.Options, error) {
	minor, err := o.node.minor()
	return simulate.Options{Explain: o.explain || o.output.text(), Minor: minor}, err
}

// simulation is the object that is printed.
type simulation struct {
	typeMeta
	*simulate.Result
}

type simulationList struct {
	typeMeta
	Items []simulation `json:"items"`
}

// finish prints the results and turns them into the exit code.
func (o *simulateOptions) finish(a *app, results []*simulate.Result, list bool, bad error) error {
	found := simulationList{typeMeta: kind("SimulationList"), Items: []simulation{}}
	refused := false
	for _, r := range results {
		if r == nil {
			continue
		}
		for _, w := range r.Warnings {
			a.logger().Warn(fmt.Sprintf("%s: %s", r.Name, w))
		}
		found.Items = append(found.Items, simulation{kind("Simulation"), r})
		refused = refused || r.Refused()
	}
	if len(found.Items) > 0 {
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
