package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kqos/kqos/internal/render"
)

// apiVersion of every object that kqos prints.
const apiVersion = "kqos.io/v1alpha1"

// typeMeta heads every printed object.
type typeMeta struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

func kind(k string) typeMeta { return typeMeta{APIVersion: apiVersion, Kind: k} }

// view is a result ready to print. The object is the contract of -o json; the
// rest is for people.
type view struct {
	// object is printed by json, yaml, jsonpath and the like.
	object any
	// text prints the table and wide forms.
	text func(w io.Writer, s render.Style) error
	// csv, where the command has one.
	csv *render.Table
	// names are printed by -o name, such as pod/web.
	names []string
	// pictures are further formats of the command, such as tree or svg.
	pictures map[string]func(w io.Writer, s render.Style) error
}

// table makes the text of a view out of one table. Without rows, nothing is
// printed on stdout; the caller says why on stderr.
func table(t render.Table) func(io.Writer, render.Style) error {
	return func(w io.Writer, s render.Style) error {
		if len(t.Rows) == 0 {
			return nil
		}
		return t.Print(w, s)
	}
}

// outputFlags choose how a view is printed.
type outputFlags struct {
	format    string
	noHeaders bool
	// words are all formats, as they are offered.
	words []string
	extra []string
}

// add defines the flags; extra names formats that the command has besides.
func (o *outputFlags) add(cmd *cobra.Command, extra ...string) {
	o.extra = extra
	o.words = slices.Concat([]string{"table", "wide", "name"}, extra, render.ObjectFormats())
	cmd.Flags().StringVarP(&o.format, "output", "o", "table", "output format: "+strings.Join(o.words, ", "))
	cmd.Flags().BoolVar(&o.noHeaders, "no-headers", false, "leave the header line of tables out")
	completeWith(cmd, "output", o.words...)
}

// check refuses an unknown format before any work is done.
func (o *outputFlags) check() error {
	if o.text() || o.format == "name" || slices.Contains(o.extra, o.format) {
		return nil
	}
	for _, f := range render.ObjectFormats() {
		switch {
		case o.format == f && strings.HasSuffix(f, "="):
			return fmt.Errorf("-o %s: nothing follows the =: give a template, as 'kqos help formats' shows", f)
		case o.format == f, strings.HasSuffix(f, "=") && strings.HasPrefix(o.format, f):
			return nil
		}
	}
	word, _, filled := strings.Cut(o.format, "=")
	if filled {
		word += "="
	}
	return fmt.Errorf("-o %q: unknown output format%s; see 'kqos help formats'", o.format, didYouMean(word, o.words))
}

// text says whether a person reads the result.
func (o *outputFlags) text() bool { return o.format == "table" || o.format == "wide" }

func (o *outputFlags) print(a *app, v view) error {
	style := render.Style{Wide: o.format == "wide", NoHeaders: o.noHeaders, Color: a.useColor()}
	switch {
	case o.text():
		return v.text(a.Out, style)
	case o.format == "name":
		for _, n := range v.names {
			if _, err := fmt.Fprintln(a.Out, n); err != nil {
				return err
			}
		}
		return nil
	case o.format == "csv" && v.csv != nil:
		return v.csv.CSV(a.Out, style)
	case v.pictures[o.format] != nil:
		return v.pictures[o.format](a.Out, style)
	}
	return render.Object(a.Out, o.format, v.object, style)
}

// useColor follows --color and NO_COLOR (https://no-color.org).
func (a *app) useColor() bool {
	switch a.color {
	case "always":
		return true
	case "never":
		return false
	}
	return a.Terminal && a.Getenv("NO_COLOR") == ""
}
