package cli

import (
	"fmt"
	"io"

	"github.com/kqos/kqos/internal/admission"
	"github.com/kqos/kqos/internal/render"
)

// maxTemplated is how many pods a template may be asked of: it sees all at once,
// as maps of some thirty kilobytes each.
const maxTemplated = 50_000

// classifyReport is the output of classify, which takes the pods in parts and
// keeps of each no more than its form shows.
type classifyReport struct {
	o     *classifyOptions
	a     *app
	node  *node
	style render.Style
	// pods, containers and reasons are the tables for people, pods also the csv.
	pods, containers, reasons *render.Table
	names                     []string
	// list prints the formats that stream; whole holds what the others show.
	list  *render.List
	whole podClassificationList
}

func (o *classifyOptions) report(a *app, n *node, reading admission.Reading) (*classifyReport, error) {
	r := &classifyReport{o: o, a: a, node: n, pods: podTable(), containers: containerTable(), reasons: reasonTable()}
	r.style = render.Style{Wide: o.output.format != "table", Color: o.output.text() && a.useColor()}
	r.whole = podClassificationList{typeMeta: kind("PodClassificationList"), Reading: reading, Items: []podClassification{}}
	if !render.Streams(o.output.format) {
		return r, nil
	}
	var err error
	r.list, err = render.NewList(a.Out, o.output.format, r.whole)
	return r, err
}

// add takes some pods in.
func (r *classifyReport) add(items []podClassification) error {
	switch {
	case r.list != nil:
		all := make([]any, len(items))
		for i := range items {
			all[i] = &items[i]
		}
		return r.list.Add(all)
	case r.o.output.text(), r.o.output.format == "csv":
		r.tabulate(items)
	case r.o.output.format == "name":
		for i := range items {
			r.names = append(r.names, "pod/"+items[i].Name)
		}
	default:
		if r.whole.Items = append(r.whole.Items, items...); len(r.whole.Items) > maxTemplated {
			return fmt.Errorf("-o %s: more than %d pods, the most that a template is filled with: pipe -o json to jq, or name fewer files", r.o.output.format, maxTemplated)
		}
	}
	return nil
}

func (r *classifyReport) tabulate(items []podClassification) {
	for i := range items {
		p := &items[i]
		r.pods.Rows = append(r.pods.Rows, p.row(r.node.driver, r.style))
		if r.o.output.format == "wide" {
			r.containers.Rows = append(r.containers.Rows, p.containerRows()...)
			r.reasons.Rows = append(r.reasons.Rows, p.reasonRows()...)
		}
	}
}

// end prints what was not printed yet.
func (r *classifyReport) end() error {
	if r.list != nil {
		return r.list.Close()
	}
	return r.o.output.print(r.a, view{object: r.whole, names: r.names, csv: r.pods, text: func(w io.Writer, s render.Style) error {
		return printTables(w, s, *r.pods, *r.containers, *r.reasons)
	}})
}
