package cli

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kqos/kqos/internal/launch"
)

// runFlags say what an apply may do to the host, and how it is run.
type runFlags struct {
	adopt, squeeze, allowOOM, createReserved bool
	prune, remove, watch, retryContended     bool
	settle, interval, lockTimeout            time.Duration
	undo, metricsAddress                     string
}

func (r *runFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&r.adopt, "adopt", false, "also change cgroups that kqos did not make")
	f.DurationVar(&r.settle, "settle", 2*time.Minute, "below a live kubelet's root, how long a difference must last before it is mended (two of the kubelet's ticks)")
	f.BoolVar(&r.squeeze, "squeeze", false, "where more is in use than a new memory.max, lower memory.high first")
	f.BoolVar(&r.allowOOM, "allow-oom", false, "write limits below use at once, though the kernel may kill")
	f.BoolVar(&r.createReserved, "create-reserved", false, "make the reserved cgroups that the kubelet refuses to start without, under systemd with unit files that outlive a reboot")
	f.BoolVar(&r.prune, "prune", false, "remove cgroups of pods that kqos made, nothing lives in and nobody wants any more")
	f.BoolVar(&r.remove, "remove", false, "remove the whole tree as far as kqos made it and nothing lives in it")
	f.StringVar(&r.undo, "undo", "", "take a plan back that was saved with -o json")
	f.BoolVar(&r.retryContended, "retry-contended", false, "write files again that were left to another writer, as SIGHUP makes --watch do")
	f.BoolVar(&r.watch, "watch", false, "keep the tree as wanted until SIGTERM")
	f.DurationVar(&r.interval, "interval", time.Second, "with --watch, the pause between two looks")
	f.StringVar(&r.metricsAddress, "metrics-address", "", "with --watch, serve Prometheus metrics at this address, such as :9099")
	f.DurationVar(&r.lockTimeout, "lock-timeout", 30*time.Second, "how long to wait for another apply on the same root")
}

// check refuses flags that contradict each other.
func (r *runFlags) check(o *applyOptions, args []string) error {
	inputs := slices.Concat(args, o.pods.files)
	switch {
	case r.prune && r.remove:
		return errors.New("--prune and --remove exclude each other: one keeps what is wanted, the other nothing")
	case r.undo != "" && (r.prune || r.remove || r.watch || len(inputs) > 0):
		return errors.New("--undo takes one saved plan and neither pods nor --prune, --remove, --watch")
	case r.watch && (r.remove || o.dryRun):
		return errors.New("--watch excludes --remove and --dry-run")
	case r.watch && (slices.Contains(inputs, "-") || o.node.config == "-"):
		return errors.New("--watch reads its inputs again when they change, which stdin can't")
	case r.metricsAddress != "" && !r.watch:
		return errors.New("--metrics-address needs --watch")
	case r.watch && r.interval < 10*time.Millisecond:
		return fmt.Errorf("--interval %s: must be at least 10ms", r.interval)
	case r.settle < 0 || r.lockTimeout < 0:
		return errors.New("--settle and --lock-timeout can't be negative")
	}
	return o.checkPodsFrom()
}

// named refuses to write a tree that nobody asked for, that of a kubelet with
// all defaults. On a kubelet's own node its configuration is what is meant.
func (o *applyOptions) named(args []string) error {
	asked := len(args)+len(o.pods.files) > 0 || o.node.config != "" || o.node.configDir != ""
	if asked || o.dryRun || o.remove || o.undo != "" {
		return nil
	}
	if launch.Find(o.node.hostRoot) != nil {
		return nil
	}
	return errors.New("nothing is named: give pods or a KubeletConfiguration (--config); neither a kubelet nor a configuration of one is on this node, and --dry-run shows what one with all defaults would make")
}
