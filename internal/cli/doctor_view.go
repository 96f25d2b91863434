package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/kqos/kqos/internal/inspect/doctor"
	"github.com/kqos/kqos/internal/render"
)

// doctorReport is the contract of doctor.
type doctorReport struct {
	typeMeta
	Checks []doctor.Result `json:"checks"`
	// Start is what --start asks for; Checks are then empty.
	Start []doctor.Step `json:"start,omitempty"`
}

// checkList is the contract of doctor list.
type checkList struct {
	typeMeta
	Items []checkItem `json:"items"`
}

type checkItem struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Explain string `json:"explain"`
}

func checkListView() view {
	list := checkList{typeMeta: kind("DoctorCheckList")}
	t := render.Table{Columns: []render.Column{{Name: "ID"}, {Name: "LOOKS WHETHER"}}}
	v := view{}
	for _, c := range doctor.Checks() {
		list.Items = append(list.Items, checkItem{c.ID, c.Title, c.Explain})
		t.Rows = append(t.Rows, []string{c.ID, c.Title})
		v.names = append(v.names, c.ID)
	}
	v.object, v.text = list, table(t)
	return v
}

// show prints the results; one that failed makes the exit code 1.
func (o *doctorOptions) show(a *app, results []doctor.Result) error {
	v := view{object: doctorReport{typeMeta: kind("DoctorReport"), Checks: results}}
	for _, r := range results {
		v.names = append(v.names, r.ID)
	}
	v.text = func(w io.Writer, s render.Style) error { return printResults(w, s, results) }
	v.pictures = map[string]func(io.Writer, render.Style) error{
		"short": func(w io.Writer, _ render.Style) error {
			_, err := fmt.Fprintln(w, shortLine(results))
			return err
		},
	}
	if err := o.output.print(a, v); err != nil {
		return err
	}
	if failed(results) {
		return errFound
	}
	return nil
}

func printResults(w io.Writer, s render.Style, results []doctor.Result) error {
	t := render.Table{Columns: []render.Column{{Name: "CHECK"}, {Name: "STATUS"}, {Name: "MESSAGE"}}}
	for _, r := range results {
		t.Rows = append(t.Rows, []string{r.ID, string(r.Status), oneLine(r.Message)})
	}
	if err := t.Print(w, s); err != nil {
		return err
	}
	for _, r := range results {
		bad := r.Status == doctor.Fail || r.Status == doctor.Warn
		if !bad && !s.Wide {
			continue
		}
		if err := printAdvice(w, s, r); err != nil {
			return err
		}
	}
	return nil
}

// printAdvice prints how to mend one result, and in the wide form its evidence.
func printAdvice(w io.Writer, s render.Style, r doctor.Result) error {
	var b strings.Builder
	if s.Wide {
		for _, e := range r.Evidence {
			fmt.Fprintf(&b, "  seen: %s\n", strings.ReplaceAll(e, "\n", "\n        "))
		}
	}
	if r.Fix != "" {
		fmt.Fprintf(&b, "  mend: %s\n", strings.ReplaceAll(r.Fix, "\n", "\n        "))
	}
	if b.Len() == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\n%s\n%s", s.Paint(statusColor(r.Status), r.ID+" "+string(r.Status)), b.String())
	return err
}

func statusColor(status doctor.Status) render.Color {
	switch status {
	case doctor.Fail:
		return render.Red
	case doctor.Warn:
		return render.Yellow
	case doctor.OK:
		return render.Green
	}
	return render.Faint
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// shortLine is for node-problem-detector, which cuts long messages: the ids come
// first.
func shortLine(results []doctor.Result) string {
	var bad, doubtful []string
	first := ""
	for _, r := range results {
		switch r.Status {
		case doctor.Fail:
			bad = append(bad, r.ID)
			if first == "" {
				first = oneLine(r.Message)
			}
		case doctor.Warn:
			doubtful = append(doubtful, r.ID)
		}
	}
	switch {
	case bad != nil:
		return fmt.Sprintf("failed: %s: %s", strings.Join(bad, ","), first)
	case doubtful != nil:
		return "ok, with warnings: " + strings.Join(doubtful, ",")
	}
	return "ok"
}

// showStart prints the walk; a stop makes the exit code 1.
func (o *doctorOptions) showStart(a *app, facts *doctor.Facts) error {
	steps := doctor.Start(facts)
	why, stopped := doctor.Stopped(steps)
	t := render.Table{Columns: []render.Column{{Name: "STEP"}, {Name: "STATUS"}, {Name: "MESSAGE"}}}
	v := view{object: doctorReport{typeMeta: kind("DoctorReport"), Checks: []doctor.Result{}, Start: steps}}
	for _, s := range steps {
		t.Rows = append(t.Rows, []string{s.Name, string(s.Status), oneLine(s.Message)})
		v.names = append(v.names, s.Name)
	}
	v.text = func(w io.Writer, s render.Style) error {
		if err := t.Print(w, s); err != nil || !stopped {
			return err
		}
		last := steps[len(steps)-1]
		return printAdvice(w, s, doctor.Result{ID: last.Name, Status: last.Status, Fix: last.Fix})
	}
	v.pictures = map[string]func(io.Writer, render.Style) error{
		"short": func(w io.Writer, _ render.Style) error {
			line := "ok: the kubelet starts"
			if stopped {
				line = "stops at " + oneLine(why)
			}
			_, err := fmt.Fprintln(w, line)
			return err
		},
	}
	if err := o.output.print(a, v); err != nil {
		return err
	}
	if stopped {
		return errFound
	}
	return nil
}
