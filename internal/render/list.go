package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kqos/kqos/internal/parallel"
)

// List prints an object whose list of items comes piece by piece, so that the
// whole never stands in memory: the same text as Object prints of the whole.
type List struct {
	w      *bufio.Writer
	encode func(item any) ([]byte, error)
	// opening and between go before the first and any other item; closing, or
	// without an item none, goes after.
	opening, between, closing, none string
	begun                           bool
}

// Streams tells whether a list can be printed piece by piece in the format.
func Streams(format string) bool { return format == "json" || format == "yaml" }

// NewList starts a list in one of the formats that stream. The head is the
// object with its items empty, as [].
func NewList(w io.Writer, format string, head any) (*List, error) {
	var text bytes.Buffer
	if err := Object(&text, format, head, Style{}); err != nil {
		return nil, err
	}
	l := &List{w: bufio.NewWriterSize(w, 1<<16), encode: yamlItem, none: text.String(), opening: "items:\n"}
	empty := "items: []\n"
	if format == "json" {
		l.encode, l.opening, l.between = jsonItem, "\"items\": [\n        ", ",\n        "
		empty = `"items": []`
	}
	before, after, found := strings.Cut(text.String(), empty)
	if !found {
		return nil, fmt.Errorf("encoding a list as %s: its head has no empty items", format)
	}
	l.opening, l.closing = before+l.opening, after
	if format == "json" {
		l.closing = "\n    ]" + after
	}
	return l, nil
}

// Add prints further items.
func (l *List) Add(items []any) error {
	texts, errs := make([][]byte, len(items)), make([]error, len(items))
	parallel.Each(len(items), func(i int) { texts[i], errs[i] = l.encode(items[i]) })
	for i, text := range texts {
		if errs[i] != nil {
			return errs[i]
		}
		before := l.between
		if !l.begun {
			before, l.begun = l.opening, true
		}
		if _, err := l.w.WriteString(before); err != nil {
			return err
		}
		if _, err := l.w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the list.
func (l *List) Close() error {
	end := l.closing
	if !l.begun {
		end = l.none
	}
	if _, err := l.w.WriteString(end); err != nil {
		return err
	}
	return l.w.Flush()
}

// jsonItem stands two levels deep.
func jsonItem(item any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("        ", "    ")
	err := e.Encode(item)
	return bytes.TrimRight(text.Bytes(), "\n"), err
}

func yamlItem(item any) ([]byte, error) { return yaml.Marshal([]any{item}) }
