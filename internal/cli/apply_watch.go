package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kqos/kqos/internal/apply"
)

// podsRefresh is how often a kubelet is asked for its pods: often beside its
// own tick of a minute.
const podsRefresh = 10 * time.Second

// keep makes the tree as wanted again and again until it is told to end.
func (o *applyOptions) keep(ctx context.Context, a *app, args []string) error {
	t, err := o.aim(ctx, a, args, nil)
	if err != nil {
		return err
	}
	defer t.host.Close()
	a.hold()
	changed, err := apply.WatchInputs(ctx, o.inputs(args), o.pods.recursive)
	if err != nil {
		return err
	}
	hangup, stop := hangups(ctx)
	defer stop()
	loop := &apply.Loop{
		Host: t.host, Interval: o.interval, Changed: changed, Hangup: hangup, Log: a.writes, Notify: notify, Afresh: o.retryContended,
		Lock:   func(ctx context.Context) (func(), error) { return o.lock(ctx, t) },
		Desire: func(ctx context.Context) (apply.Target, error) { return o.desired(ctx, a, args, t) },
	}
	if t.want.fromKubelet || t.options.Kubelet != nil {
		loop.Refresh = podsRefresh
	}
	// Without a watchdog the variable is unset, which is no error.
	if loop.Watchdog, err = daemon.SdWatchdogEnabled(false); err != nil {
		return fmt.Errorf("reading WATCHDOG_USEC: %w", err)
	}
	if o.metricsAddress != "" {
		end, err := serveMetrics(ctx, o.metricsAddress, loop.Log, func(r prometheus.Registerer) (err error) {
			loop.Metrics, err = apply.NewMetrics(r)
			return err
		})
		if err != nil {
			return err
		}
		defer end()
	}
	return loop.Run(ctx)
}

// desired is the target of a loop. Broken inputs are an error as a whole, so
// that the last good state is kept; a pod that can't be planned is told.
func (o *applyOptions) desired(ctx context.Context, a *app, args []string, t *aim) (apply.Target, error) {
	next, err := o.aim(ctx, a, args, t.host)
	if err != nil {
		return apply.Target{}, err
	}
	if err := next.want.in.err(); err != nil {
		return apply.Target{}, err
	}
	if now, begun := next.want.tree, t.want.tree; now.Driver != begun.Driver || now.Version != begun.Version {
		return apply.Target{}, fmt.Errorf("the driver changed from %s to %s: restart kqos", begun.Driver, now.Driver)
	}
	for _, e := range leaves(next.want.err) {
		if e != nil {
			a.writes.Warn(e.Error())
		}
	}
	return apply.Target{Tree: next.want.tree, Options: next.options}, nil
}

// inputs are the files and folders that the target is computed from.
func (o *applyOptions) inputs(args []string) []string {
	all := slices.Concat(args, o.pods.files)
	for _, file := range []string{o.node.config, o.node.configDir, o.node.topology} {
		if file == "" {
			continue
		}
		// --topology may be a description instead of a file.
		if _, err := os.Stat(file); err == nil {
			all = append(all, file)
		}
	}
	return all
}

// hangups turns SIGHUP into words on a channel.
func hangups(ctx context.Context) (words <-chan struct{}, stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	out := make(chan struct{})
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			select {
			case <-ctx.Done():
				return
			case out <- struct{}{}:
			}
		}
	}()
	return out, func() { signal.Stop(signals) }
}

// notify tells the service manager; without one there is nobody to tell.
func notify(state string) { _, _ = daemon.SdNotify(false, state) }
