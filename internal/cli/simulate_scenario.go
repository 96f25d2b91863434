package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/kqos/kqos/internal/simulate"
)

// runScenarios plays a scenario file on all cores.
func (o *simulateOptions) runScenarios(ctx context.Context, a *app) error {
	options, err := o.options()
	if err != nil {
		return err
	}
	data, err := readInput(a, o.scenario)
	if err != nil {
		return err
	}
	scenarios, list, bad := simulate.ReadScenarios(data)
	bad = inFile(o.scenario, bad)
	if o.states.write != "" && len(scenarios) != 1 {
		return errors.New("--write-state takes a single scenario: each would write the same files")
	}
	if n := len(scenarios); a.Terminal && n >= progressFrom {
		options.Progress = func(done int) { fmt.Fprintf(a.Err, "\r%d of %d scenarios", done, n) }
	}
	results, err := simulate.RunAll(ctx, scenarios, options)
	if options.Progress != nil {
		fmt.Fprintln(a.Err)
	}
	if err != nil {
		return err
	}
	if len(results) == 1 && results[0] != nil {
		if err := o.states.save(results[0].Files); err != nil {
			return err
		}
	}
	return o.finish(a, results, list, bad)
}

// progressFrom is the number of scenarios that take about a second.
const progressFrom = 500

// inFile names the file in front of each of joined errors.
func inFile(file string, err error) error {
	if err == nil {
		return nil
	}
	var all []error
	for _, e := range leaves(err) {
		all = append(all, fmt.Errorf("%s: %w", file, e))
	}
	return errors.Join(all...)
}

// readInput reads a file, or stdin for "-".
func readInput(a *app, name string) ([]byte, error) {
	if name == "-" {
		data, err := io.ReadAll(a.In)
		if err != nil {
			return nil, fmt.Errorf("reading stdin: %w", err)
		}
		return data, nil
	}
	return os.ReadFile(name)
}
