package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
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

// reword says what the JSON decoder met without naming types of Go, and the way
// out where it names none.
func reword(err error) string {
	if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		return fmt.Sprintf("is %s, must be %s", wrongValue(wrong.Value), wantedValue(wrong.Type))
	}
	message := strings.TrimPrefix(err.Error(), "json: ")
	if strings.Contains(message, resource.ErrFormatWrong.Error()) {
		message += ": write a quantity such as 500m or 128Mi"
	}
	return message
}

func wrongValue(met string) string {
	switch met {
	case "object":
		return "a mapping"
	case "array":
		return "a list"
	case "bool":
		return "true or false"
	case "string":
		return "text"
	case "number":
		return "a number"
	}
	return "the " + met
}

func wantedValue(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wantedValue(t.Elem())
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "text (in quotes where it looks like a number or a boolean)"
	case reflect.Bool:
		return "true or false"
	case reflect.Int32, reflect.Int64:
		return "a whole number that fits " + t.Kind().String()
	case reflect.Struct, reflect.Map:
		return "a mapping"
	}
	return "of type " + t.String()
}

// yamlHint is the way out of an error of the decoders that says only what they
// met, "" where the error says enough.
func yamlHint(err error) string {
	for _, h := range []struct{ met, hint string }{
		{"excessive aliasing", ": write out what the aliases repeat, or render it to JSON"},
		{"contains itself", ": an anchor can't be repeated within its own value; write that part out"},
		{"exceeded max depth", ": no Kubernetes object nests that deep; look for brackets that are never closed"},
		{"unknown anchor", ": define the anchor before the alias, or quote a text that starts with *"},
		{"cannot start any token", ": indent with spaces, not tabs, and quote a text that starts with @, ` or %"},
	} {
		if strings.Contains(err.Error(), h.met) {
			return h.hint
		}
	}
	return ""
}

// templateHint is the way out for the most frequent cause of text that is
// neither YAML nor JSON.
func templateHint(text []byte) string {
	if strings.Contains(string(text[:min(len(text), 1<<20)]), "{{") {
		return " (it looks like a template: render it first, as helm template does)"
	}
	return ""
}
