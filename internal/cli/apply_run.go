package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/kqos/kqos/internal/apply"
	"github.com/kqos/kqos/internal/cgroups/driver"
)

// aim is what an apply works towards, with the host that it works on.
type aim struct {
	want    *wanted
	options apply.Options
	host    *driver.Driver
}

// options are what the flags and the host allow.
func (o *applyOptions) options(ctx context.Context, a *app, w *wanted) (apply.Options, error) {
	options := apply.Options{
		Adopt: o.adopt, Prune: o.prune, Remove: o.remove, CreateReserved: o.createReserved,
		Squeeze: o.squeeze, AllowOOM: o.allowOOM, Settle: o.settle,
	}
	if !o.onHost(w.node) {
		return options, nil
	}
	var err error
	options.SystemdRuns = driver.HostDriver(o.node.hostRoot) == driver.Systemd
	options.Kubelet, err = o.liveKubelet(ctx, a, w)
	return options, err
}

// aim reads the inputs and opens the host, or takes the one that is open.
func (o *applyOptions) aim(ctx context.Context, a *app, args []string, host *driver.Driver) (*aim, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("apply writes the host's cgroups, which takes root: run it with sudo, or plan with --dry-run")
	}
	// The flags are taken afresh each time: reading adds the arguments to them.
	fresh := *o
	fresh.node.live = true
	w, err := fresh.want(ctx, a, args)
	if err != nil {
		return nil, err
	}
	if w.node.unverified != "" {
		return nil, fmt.Errorf("nothing is written: %s; where they hold, say so with --kubernetes-version %s", w.node.unverified, w.node.config.Gates.Minor)
	}
	t := &aim{want: w, host: host}
	if host == nil {
		t.host, err = driver.Open(driver.Options{Kind: w.node.driver, Version: w.node.cgroupVersion, HostRoot: o.node.hostRoot})
		if err != nil {
			return nil, err
		}
	}
	if t.options, err = fresh.options(ctx, a, w); err == nil {
		t.options.Self, err = t.host.Self()
	}
	if err == nil {
		err = fresh.consult(ctx, a, w, t.host, t.options)
	}
	if err != nil {
		if host == nil {
			t.host.Close()
		}
		return nil, err
	}
	return t, nil
}

// lock waits for the root's lock.
func (o *applyOptions) lock(ctx context.Context, t *aim) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, o.lockTimeout)
	defer cancel()
	return t.host.Lock(ctx, t.want.tree.Root())
}

// once applies and ends.
func (o *applyOptions) once(ctx context.Context, a *app, args []string) error {
	t, err := o.aim(ctx, a, args, nil)
	if err != nil {
		return err
	}
	defer t.host.Close()
	a.hold()
	memory := apply.NewMemory()
	if o.retryContended {
		memory.Forget()
	}
	plan, result, err := o.pass(ctx, a, t, memory)
	if err == nil && plan.Unsettled() > 0 && len(result.Errors) == 0 {
		if err = settle(ctx, a, plan.Unsettled()); err != nil {
			return err
		}
		plan, result, err = o.pass(ctx, a, t, memory)
	}
	if plan == nil {
		return err
	}
	return o.report(a, newPlan(t.want, plan.Changes(), plan.Withheld, plan.Notes), plan, result, errors.Join(t.want.err, err))
}

// pass plans and writes once, under the lock.
func (o *applyOptions) pass(ctx context.Context, a *app, t *aim, memory *apply.Memory) (*apply.Plan, *apply.Result, error) {
	release, err := o.lock(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	plan, err := apply.Make(t.want.tree, t.host, t.options, memory)
	return plan, plan.Execute(ctx, t.host, a.logger()), err
}

// settle waits until differences have lasted long enough to be no passing
// matter between two ticks of the kubelet.
func settle(ctx context.Context, a *app, wait time.Duration) error {
	a.logger().Warn(fmt.Sprintf("a kubelet works on this root: looking again in %s, to mend only what still differs then (--settle)", wait.Round(time.Second)))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}

// report prints what was done. What failed and what was held back make the exit
// code 2.
func (o *applyOptions) report(a *app, shown *cgroupPlan, plan *apply.Plan, result *apply.Result, err error) error {
	shown.Result = result
	if failed := o.print(a, shown); failed != nil {
		return failed
	}
	return errors.Join(append([]error{err, heldBack(plan.Withheld)}, result.Errors...)...)
}

// heldBack sums up what was not written.
func heldBack(withheld []apply.Withheld) error {
	if len(withheld) == 0 {
		return nil
	}
	w := withheld[0]
	at := w.Path
	if w.File != "" {
		at = w.File + " of cgroup " + w.Path
	}
	if len(withheld) == 1 {
		return fmt.Errorf("not written: %s: %s", at, w.Reason)
	}
	return fmt.Errorf("%d changes not written, such as %s: %s (-o wide tells each)", len(withheld), at, w.Reason)
}
