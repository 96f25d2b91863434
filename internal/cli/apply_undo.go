package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kqos/kqos/internal/apply"
	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/cgroups/driver"
	"github.com/kqos/kqos/internal/input"
)

// takeBack undoes a saved plan.
func (o *applyOptions) takeBack(ctx context.Context, a *app) error {
	if err := o.output.check(); err != nil {
		return err
	}
	saved, err := o.readPlan(a)
	if err != nil {
		return err
	}
	tree := cgroups.Tree{Driver: saved.Driver, Version: saved.CgroupVersion, Cgroups: saved.Cgroups}
	t := &aim{want: &wanted{tree: tree, node: &node{driver: saved.Driver, cgroupVersion: saved.CgroupVersion}}}
	t.host, err = driver.Open(driver.Options{Kind: saved.Driver, Version: saved.CgroupVersion, HostRoot: o.node.hostRoot})
	if err != nil {
		return err
	}
	defer t.host.Close()
	t.options = apply.Options{Adopt: o.adopt, Squeeze: o.squeeze, AllowOOM: o.allowOOM}
	if t.options.Self, err = t.host.Self(); err != nil {
		return err
	}
	a.hold()
	release, err := o.lock(ctx, t)
	if err != nil {
		return err
	}
	defer release()
	plan, err := apply.MakeUndo(tree, saved.Changes, t.host, t.options)
	saved.Changes, saved.Withheld = plan.Changes(), plan.Withheld
	if o.dryRun {
		saved.Result = nil
		return errors.Join(err, o.output.print(a, saved.view()))
	}
	return o.report(a, saved, plan, plan.Execute(ctx, t.host, a.logger()), err)
}

// readPlan reads a plan that was printed with -o json.
func (o *applyOptions) readPlan(a *app) (*cgroupPlan, error) {
	data, err := a.read(o.undo, input.Config)
	if err != nil {
		return nil, fmt.Errorf("--undo: %w", err)
	}
	saved := &cgroupPlan{}
	if err := json.Unmarshal(data, saved); err != nil {
		return nil, fmt.Errorf("--undo %s: %w; save the plan with 'kqos apply -o json'", o.undo, err)
	}
	if want := kind("CgroupPlan"); saved.typeMeta != want {
		return nil, fmt.Errorf("--undo %s: %s %s is no %s; save the plan with 'kqos apply -o json'", o.undo, saved.APIVersion, saved.Kind, want.Kind)
	}
	return saved, nil
}
