package manifest

import (
	"errors"
	"fmt"
	"strings"
)

// Problem is something wrong with an input, with the place where it stands.
type Problem struct {
	File string
	// Document counts from 1; 0 where the whole file is meant.
	Document int
	// Path is the field, such as spec.containers[1].resources.limits.cpu.
	Path string
	// Message says what is wrong and what to do.
	Message string
}

// Error reads "FILE: document 2: spec.containers[1]…: what is wrong".
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Document > 0 {
		fmt.Fprintf(&b, ": document %d", p.Document)
	}
	if p.Path != "" {
		b.WriteString(": " + p.Path)
	}
	b.WriteString(": " + p.Message)
	return b.String()
}

// inWords adds the way out to an error of the decoders that says only what they
// met.
func inWords(err error) error {
	for _, h := range []struct{ met, hint string }{
		{"excessive aliasing", "write out what the aliases repeat, or render it to JSON"},
		{"contains itself", "an anchor can't be repeated within its own value; write that part out"},
		{"exceeded max depth", "no Kubernetes object nests that deep; look for brackets that are never closed"},
		{"unknown anchor", "define the anchor before the alias, or quote a text that starts with *"},
		{"cannot start any token", "indent with spaces, not tabs, and quote a text that starts with @, ` or %"},
	} {
		if strings.Contains(err.Error(), h.met) {
			return fmt.Errorf("%w: %s", err, h.hint)
		}
	}
	if strings.Contains(err.Error(), "invalid map key") {
		// The rest shows the key as a value of Go.
		return errors.New("yaml: a mapping or list stands where a key must, such as {{ }} outside quotes")
	}
	return err
}

// templateHint is the way out for the most frequent cause of text that is
// neither YAML nor JSON.
func templateHint(text []byte) string {
	if strings.Contains(string(text[:min(len(text), 1<<20)]), "{{") {
		return " (it looks like a template: render it first, as helm template does)"
	}
	return ""
}
