package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/kqos/kqos/internal/input"
	"github.com/kqos/kqos/internal/simulate"
)

// runScenarios plays a scenario file on all cores.
func (o *simulateOptions) runScenarios(ctx context.Context, a *app) error {
	minor, err := o.node.scenarioRules(ctx, a)
	if err != nil {
		return err
	}
	options := simulate.Options{Explain: o.explain, Minor: minor}
	data, err := a.read(o.scenario, input.Manifests)
	if err != nil {
		return fmt.Errorf("--scenario: %w", err)
	}
	scenarios, list, bad := simulate.ReadScenarios(data)
	if bad != nil {
		bad = fmt.Errorf("%s: %w", o.scenario, bad)
	}
	if o.states.write != "" && len(scenarios) != 1 {
		return errors.New("--write-state takes a single scenario: each would write the same files")
	}
	progress := a.progress("scenarios")
	options.Progress = func(done int) { progress.report(done, len(scenarios)) }
	results, err := simulate.RunAll(ctx, scenarios, options)
	progress.end()
	if err != nil {
		return err
	}
	if len(results) == 1 && results[0] != nil {
		if err := o.states.save(a, results[0].Files); err != nil {
			return err
		}
	}
	all := make([]simulation, len(results))
	for i, r := range results {
		if r != nil {
			all[i] = newSimulation(r, scenarios[i].LastMachine(), scenarios[i].Events)
		}
	}
	return o.finish(a, all, list, bad)
}
