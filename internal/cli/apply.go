package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kqos/kqos/internal/apply"
)

type applyOptions struct {
	planOptions
	dryRun bool
}

func newApply(a *app) *cobra.Command {
	o := &applyOptions{}
	cmd := &cobra.Command{
		Use:   "apply [FILE|FOLDER|-]...",
		Short: "Make the cgroups that the kubelet would make for pods on a node",
		Long: `apply answers which cgroups a kubelet with this configuration keeps for these
pods: kubepods, the reserved cgroups, the QoS classes, each pod, with
--containers each container, with every control file, its value and the reason
for it (-o wide).

--dry-run only plans. With --topology, or a Machine among the inputs, the plan
starts from nothing and needs no host; else it is what differs on this one.

Values that are sums over all pods (the weight of burstable, qosReserved limits,
memory.min and memory.low under TieredReservation) are unknown, and left alone,
unless the pods given are known to be all: with --pods-complete or --topology.
A pod that has ended or is being deleted does not count.`,
		Example: `  kqos apply --dry-run pod.yaml --topology synthetic:cores=8,memory=32Gi
  kqos apply --dry-run testdata/node -o wide
  kqos apply --dry-run pod.yaml --topology node.json --driver cgroupfs --cgroup-version 1 -o json
  kqos apply --dry-run deploy/ -R --replicas --containers --topology node.json --config kubelet.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, args)
		},
	}
	o.add(cmd)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "plan only, write nothing")
	return cmd
}

func (o *applyOptions) run(ctx context.Context, a *app, args []string) error {
	if !o.dryRun {
		return errors.New("apply without --dry-run does not write yet")
	}
	w, err := o.want(ctx, a, args)
	if err != nil {
		return err
	}
	changes, withheld, err := o.compare(w, apply.Options{})
	if shown := o.output.print(a, planView(w, changes, withheld)); shown != nil {
		return shown
	}
	return errors.Join(w.err, err)
}

func newDiff(a *app) *cobra.Command {
	o := &planOptions{}
	cmd := &cobra.Command{
		Use:   "diff [FILE|FOLDER|-]...",
		Short: "What differs between a node's cgroups and what the kubelet would make",
		Long: `diff answers what 'kqos apply' would change: it plans in the same way, prints the
differences, and exits 1 if there are any. It writes nothing.`,
		Example: `  kqos diff testdata/node
  kqos diff pods/ --config /var/lib/kubelet/config.yaml --pods-complete
  kqos diff pods/ -o json | jq '.changes[] | select(.file == "cpu.weight")'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.diff(cmd.Context(), a, args)
		},
	}
	o.add(cmd)
	return cmd
}

func (o *planOptions) diff(ctx context.Context, a *app, args []string) error {
	w, err := o.want(ctx, a, args)
	if err != nil {
		return err
	}
	changes, withheld, err := o.compare(w, apply.Options{})
	if shown := o.output.print(a, planView(w, changes, withheld)); shown != nil {
		return shown
	}
	if err := errors.Join(w.err, err); err != nil {
		return err
	}
	if len(changes) > 0 {
		return errFound
	}
	return nil
}
