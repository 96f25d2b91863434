package render

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A list that comes piece by piece is the text of the whole.
func TestList(t *testing.T) {
	type thing struct {
		Name string            `json:"name"`
		Of   map[string]string `json:"of,omitempty"`
	}
	type list struct {
		APIVersion string  `json:"apiVersion"`
		Items      []thing `json:"items"`
		Reading    string  `json:"reading"`
	}
	for _, items := range [][]thing{{}, {{Name: "a"}}, {{Name: "<b>", Of: map[string]string{"x": "1", "items": "[]"}}, {Name: "c\nd"}, {Name: "e"}}} {
		for _, format := range []string{"json", "yaml"} {
			var want, got bytes.Buffer
			if err := Object(&want, format, list{"v1", items, "created"}, Style{}); err != nil {
				t.Fatal(err)
			}
			l, err := NewList(&got, format, list{"v1", []thing{}, "created"})
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range items {
				if err := l.Add([]any{item}); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.String(), got.String()); diff != "" {
				t.Errorf("%s of %d items (-whole +pieces):\n%s", format, len(items), diff)
			}
		}
	}
	if _, err := NewList(&bytes.Buffer{}, "json", map[string]string{}); err == nil {
		t.Error("a head without items is taken")
	}
}
