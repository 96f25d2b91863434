package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/kqos/kqos/internal/render"
	"github.com/kqos/kqos/internal/simulate"
)

// simulateView shows results: the contract's object, and a row a container.
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
				fmt.Fprintf(w, "# %s\n", found.Items[i].Name)
			}
			if err := printSimulation(w, s, found.Items[i].Result); err != nil {
				return err
			}
		}
		return nil
	}
	return v
}

func printSimulation(w io.Writer, s render.Style, r *simulate.Result) error {
	if r.StartError != nil {
		_, err := fmt.Fprintf(w, "the kubelet does not start (%s): %s\n", r.StartError.Stage, r.StartError.Message)
		return err
	}
	t := render.Table{Columns: []render.Column{
		{Name: "POD"}, {Name: "CONTAINER"}, {Name: "CPUS"}, {Name: "EXCLUSIVE"}, {Name: "MEMS"}, {Name: "DEVICES"}, {Name: "REASON"}, {Name: "MESSAGE", Wide: true},
	}}
	var why []string
	for _, e := range r.Events {
		for _, c := range e.Containers {
			t.Rows = append(t.Rows, []string{e.Pod, c.Name, c.CPUs, fmt.Sprint(c.Exclusive), c.Mems, devicesText(c.Devices), "", ""})
		}
		if len(e.Containers) == 0 && e.Op == simulate.OpAdd {
			t.Rows = append(t.Rows, []string{e.Pod, "", "", "", "", "", e.Reason, e.Message})
		}
		if e.Explain != nil && e.Explain.Why != "" {
			why = append(why, e.Pod+": "+e.Explain.Why)
		}
	}
	if err := table(t)(w, s); err != nil || len(why) == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", strings.Join(why, "\n"))
	return err
}

func devicesText(devices map[string][]string) string {
	var parts []string
	for _, resource := range slices.Sorted(maps.Keys(devices)) {
		parts = append(parts, resource+"="+strings.Join(devices[resource], ","))
	}
	return strings.Join(parts, " ")
}
