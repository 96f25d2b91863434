package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
)

// inspectOptions are planOptions without those flags that only a writer needs.
type inspectOptions struct {
	planOptions
	all, exitCode, watch bool
	sortBy, fold         string
	sample, timeout      time.Duration
	interval             time.Duration
	count                int
	metricsAddress       string
}

func newInspect(a *app) *cobra.Command {
	o := &inspectOptions{}
	cmd := &cobra.Command{
		Use:   "inspect [CGROUP|PID|CONTAINER-ID|POD-UID|POD]",
		Short: "What the node's cgroups are and do, and where they differ",
		Long: `inspect answers what the cgroups of this node are and do: kubepods and the
reserved cgroups with all below them (--all: the whole hierarchy), or the part
that one argument names: a cgroup's path, a process, a container's id, a pod's
UID, its name or namespace/name.

  usage      CPU over a short sample, memory, processes, throttling, OOM kills,
             pressure (the share of the last 10 seconds in which some task waited)
  drift      each file that reads other than the kubelet writes it, and who
             probably wrote it. The cpu.weight of a container is right by either
             of the conversions that runtimes have
  leaks      cgroups of pods that nobody knows any more, and what holds them
  intruders  threads and interrupts that may run on CPUs that a container has
             for itself
  alignment  cores, caches, NUMA nodes and memory of such containers

Pods come from -f, else from the kubelet's PodsAPI; without either only their
names are known, from the kubelet's folders, and drift is told of kubepods, the
QoS classes and the reserved cgroups. The configuration is --config, else that
of the node's own kubelet. Nothing is written, and what can't be read is told as
a warning beside all the rest.

--watch looks again and again, as top does: q quits, / filters, f folds levels,
n, c, m, p, t, o, s and d sort, x turns to drift, leaks and intruders. The figures
on the screen are fresh at each look; control files are read by turns, all within
30 looks. Where the output is no terminal it prints lines. With --metrics-address
it tells Prometheus what it sees, and logs what appears and what goes instead.`,
		Example: `  sudo kqos inspect
  sudo kqos inspect shop/database -o wide
  sudo kqos inspect $$
  kqos inspect --host-root captured/ -f pods.yaml --exit-code
  kqos inspect -o jsonpath='{range .cgroups[?(@.drift)]}{.path}: {.drift}{"\n"}{end}'
  kqos inspect --watch --sort memory
  kqos inspect --host-root /host --watch --metrics-address :9099`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			return a.completeTarget(cmd, &o.node, args, typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, slices.Concat(args, []string{""})[0])
		},
	}
	o.pods.add(cmd)
	o.node.add(cmd)
	o.output.add(cmd, "tree", "csv")
	o.containers, o.podsFrom, o.node.live, o.node.hostConfig = true, "auto", true, true
	f := cmd.Flags()
	f.BoolVar(&o.complete, "pods-complete", false, "the pods given are all of the node's; else they are if each pod that is there is one of them")
	f.StringVar(&o.stateDir, "state-dir", "", "folder of the kubelet's checkpoint files; default: var/lib/kubelet below --host-root")
	f.BoolVar(&o.all, "all", false, "the whole hierarchy")
	f.BoolVar(&o.exitCode, "exit-code", false, "exit 1 if anything drifted; a pod counts where its manifest is known, by -f or the kubelet's PodsAPI")
	f.StringVar(&o.sortBy, "sort", "name", "order of siblings: name, cpu, memory, pids, throttled, oom, pressure, drift")
	f.StringVar(&o.fold, "fold", "", "show no deeper than this level: node, qos, pod, container")
	f.DurationVar(&o.sample, "sample", 200*time.Millisecond, "how long to measure CPU; 0 leaves it out")
	f.DurationVar(&o.timeout, "timeout", 10*time.Second, "after this, answer with what is known by then; half of it is for asking, half for the tree")
	f.BoolVar(&o.watch, "watch", false, "look again and again")
	f.DurationVar(&o.interval, "interval", 2*time.Second, "with --watch, the pause between two looks")
	f.IntVar(&o.count, "count", 0, "with --watch, end after so many looks; 0 goes on")
	f.StringVar(&o.metricsAddress, "metrics-address", "", "with --watch, serve Prometheus metrics at this address, such as :9099")
	completeWith(cmd, "sort", sortKeys()...)
	completeWith(cmd, "fold", foldLevels()...)
	return cmd
}

func (o *inspectOptions) check() error {
	switch {
	case o.sample < 0 || o.timeout <= 0:
		return errors.New("--sample can't be negative, and --timeout must be above 0")
	case o.interval < 100*time.Millisecond:
		return fmt.Errorf("--interval %s: must be at least 100ms", o.interval)
	case o.count != 0 && !o.watch, o.count < 0:
		return errors.New("--count needs --watch and can't be negative")
	case o.metricsAddress != "" && !o.watch:
		return errors.New("--metrics-address needs --watch")
	}
	if err := checkWord("sort", o.sortBy, sortKeys()...); err != nil {
		return err
	}
	if o.fold != "" {
		if err := checkWord("fold", o.fold, foldLevels()...); err != nil {
			return err
		}
	}
	return o.output.check()
}

func (o *inspectOptions) run(ctx context.Context, a *app, target string) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.watch {
		return o.follow(ctx, a, target)
	}
	begun := time.Now()
	s, err := o.survey(ctx, a, target)
	if err != nil {
		return err
	}
	bounded, cancel := o.reading(ctx, begun)
	defer cancel()
	o.measure(bounded, s)
	result := o.result(s, s.Run(bounded))
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, note := range result.Notes {
		a.logger().Warn(note)
	}
	if err := o.output.print(a, o.view(result)); err != nil {
		return err
	}
	if o.exitCode && result.drifted() {
		return errFound
	}
	return nil
}

// measure waits for as long as CPU use is sampled.
func (o *inspectOptions) measure(ctx context.Context, s *survey) {
	if o.sample == 0 || !s.alive() {
		return
	}
	s.Before = s.Hierarchy.Sample(s.Root, s.Paths)
	select {
	case <-ctx.Done():
	case <-time.After(o.sample):
	}
}
