package cli

import (
	"fmt"
	"io"

	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/render"
	"github.com/kqos/kqos/internal/simulate"
)

// simulation is the object that is printed.
type simulation struct {
	typeMeta
	*simulate.Result

	// machine is that of the end.
	machine *machine.Machine
	// pods are the names of pods by UID.
	pods map[string]string
}

type simulationList struct {
	typeMeta
	Items []simulation `json:"items"`
}

func newSimulation(r *simulate.Result, m *machine.Machine, events []simulate.Event) simulation {
	s := simulation{typeMeta: kind("Simulation"), Result: r, machine: m, pods: map[string]string{}}
	for i := range events {
		if pod := events[i].Pod; pod != nil {
			s.pods[or(string(pod.UID), pod.Name)] = fullName(pod)
		}
	}
	return s
}

// simulateView shows results: the contract's object, tables for people, and,
// of a single one, a picture.
func simulateView(found simulationList, list bool) view {
	v := view{object: found}
	if !list {
		v.object = found.Items[0]
	}
	for i := range found.Items {
		for _, e := range found.Items[i].Events {
			if e.Pod != "" {
				v.names = append(v.names, "pod/"+e.Pod)
			}
		}
	}
	v.text = func(w io.Writer, s render.Style) error {
		for i := range found.Items {
			if list {
				if i > 0 {
					fmt.Fprintln(w)
				}
				fmt.Fprintf(w, "# %s\n", found.Items[i].Name)
			}
			if err := printSimulation(w, s, found.Items[i]); err != nil {
				return err
			}
		}
		return nil
	}
	v.pictures = map[string]func(io.Writer, render.Style) error{"svg": func(w io.Writer, s render.Style) error {
		if len(found.Items) != 1 {
			return fmt.Errorf("-o svg draws one simulation, and there are %d: give a file with one scenario", len(found.Items))
		}
		return found.Items[0].picture(w, s)
	}}
	return v
}
