package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kqos/kqos/internal/cli"
)

// TestManual looks for all words of the help in the pages: Markdown, by which they
// are made, drops characters that mean something to it.
func TestManual(t *testing.T) {
	pages, err := manual(cli.Command(), made.made)
	if err != nil {
		t.Fatal(err)
	}
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		text := words(string(pages[name]))
		for _, want := range []string{cmd.Short, cmd.Long, cmd.Example, "EXIT STATUS", "could not do it: bad flags"} {
			if want = words(strings.ReplaceAll(want, "#### ", "")); !strings.Contains(text, want) {
				t.Errorf("%s does not say %q in\n%s", name, want, text)
			}
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(text, words(f.Usage)) || !strings.Contains(text, "--"+f.Name) {
				t.Errorf("%s does not say %q of --%s", name, f.Usage, f.Name)
			}
		})
		delete(pages, name)
		for _, sub := range cmd.Commands() {
			if !sub.Hidden {
				look(sub)
			}
		}
	}
	look(cli.Command())
	for name := range pages {
		if !strings.HasPrefix(name, "kqos-completion") { // cobra's own
			t.Errorf("%s is of no command", name)
		}
	}
}

// words are those of a text or of a page, one blank between any two.
func words(s string) string {
	s = regexp.MustCompile(`(?m)^\.[A-Za-z]+ ?`).ReplaceAllString(s, "")
	s = regexp.MustCompile(`\\f[A-Z]|\\&`).ReplaceAllString(s, "")
	s = strings.NewReplacer(`\-`, "-", `\\`, `\`, `\e`, `\`).Replace(s)
	return strings.Join(strings.Fields(s), " ")
}
