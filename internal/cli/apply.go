package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kqos/kqos/internal/apply"
)

type applyOptions struct {
	planOptions
	runFlags
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

Only what differs is written. It is safe to run again, from cron too, and two
never work on one root at once. What kqos makes it marks with an extended
attribute (trusted.kqos); what it did not make it leaves alone unless --adopt is
given. A limit below what is in use is held back, so that nobody is killed. Below
the root of a live kubelet no cgroup of a pod is made or removed.

--dry-run only plans. With --topology, or a Machine among the inputs, the plan
starts from nothing and needs no host; else it is what differs on this one.
Without --dry-run something must be named, pods or --config; on a kubelet's node
its own configuration is taken where none is.

Values that are sums over all pods (the weight of burstable, qosReserved limits,
memory.min and memory.low under TieredReservation) are unknown, and left alone,
unless the pods given are known to be all: with --pods-complete, --pods-from
kubelet, in a plan with --topology, where kqos made all pod cgroups there are, or
where they are the answer of this node's kubelet to GET /pods, read with
--as-written. kubectl's lists, and one of another node, never are. A pod that has
ended or is being deleted does not count.

--watch keeps the tree so until SIGTERM: a tick with nothing to do only reads,
changed manifests count at once, a broken edit keeps the last good state, and
SIGHUP reads all again. A file that another keeps changing back is left after
three rewrites within ten minutes, by one run after another too, until SIGHUP or
--retry-contended.

A pod that is there and differs is resized as the kubelet does it: memory before
cpu, its limit up before and down after its containers', and not at all if a
memory limit would go to its use or below.`,
		Example: `  sudo kqos apply pods/ --config /var/lib/kubelet/config.yaml --prune
  sudo kqos apply pods/ --watch --interval 5s --metrics-address :9099
  sudo kqos apply --config kubelet.yaml --create-reserved
  sudo kqos apply pods/ -o json > done.json && sudo kqos apply --undo done.json
  kqos apply --dry-run pod.yaml --topology synthetic:cores=8,memory=32Gi
  kqos apply --dry-run testdata/node -o wide
  kqos apply --dry-run pod.yaml --topology node.json --driver cgroupfs --cgroup-version 1 -o json
  kqos apply --dry-run deploy/ -R --replicas --containers --topology node.json --config kubelet.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, args)
		},
	}
	o.planOptions.add(cmd)
	o.runFlags.add(cmd)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "plan only, write nothing")
	return cmd
}

func (o *applyOptions) run(ctx context.Context, a *app, args []string) error {
	if err := o.check(o, args); err != nil {
		return err
	}
	if err := o.named(args); err != nil {
		return err
	}
	switch {
	case o.undo != "":
		return o.takeBack(ctx, a)
	case o.dryRun:
		return o.plan(ctx, a, args)
	}
	a.warnPartial(o.node.hostRoot)
	if o.watch {
		return o.keep(ctx, a, args)
	}
	return o.once(ctx, a, args)
}

// plan shows what an apply would do.
func (o *applyOptions) plan(ctx context.Context, a *app, args []string) error {
	w, err := o.want(ctx, a, args)
	if err != nil {
		return err
	}
	options, err := o.options(ctx, a, w)
	if err != nil {
		return err
	}
	plan, err := o.compare(ctx, a, w, options)
	if shown := o.print(a, plan); shown != nil {
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
  kqos diff pods/ -o jsonpath='{range .changes[?(@.file=="cpu.weight")]}{.path}: {.from} to {.to}{"\n"}{end}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.diff(cmd.Context(), a, args)
		},
	}
	o.add(cmd)
	return cmd
}

func (o *planOptions) diff(ctx context.Context, a *app, args []string) error {
	if err := o.checkPodsFrom(); err != nil {
		return err
	}
	w, err := o.want(ctx, a, args)
	if err != nil {
		return err
	}
	options := apply.Options{}
	if o.onHost(w.node) {
		if options.Kubelet, err = o.liveKubelet(ctx, a, w); err != nil {
			return err
		}
	}
	plan, err := o.compare(ctx, a, w, options)
	if shown := o.print(a, plan); shown != nil {
		return shown
	}
	if err := errors.Join(w.err, err); err != nil {
		return err
	}
	if len(plan.Changes) > 0 {
		return errFound
	}
	return nil
}
