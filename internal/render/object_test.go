package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type item struct {
	Name  string            `json:"name"`
	Big   int64             `json:"big"`
	Files map[string]string `json:"files,omitempty"`
}

type list struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Items      []item `json:"items"`
}

func TestObject(t *testing.T) {
	v := list{"kqos.io/v1alpha1", "List", []item{
		{"a", 1<<53 + 1, map[string]string{"cpu.max": "max 100000"}}, {Name: "<b>"},
	}}
	file := filepath.Join(t.TempDir(), "template")
	if err := os.WriteFile(file, []byte("{{len .items}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{
		"jsonpath={.items[*].name}":                     "a <b>",
		"jsonpath=.items[0].big":                        "9007199254740993",
		"jsonpath={.items[0].files.cpu\\.max}":          "max 100000",
		"jsonpath={.items[0].absent}":                   "",
		"go-template={{range .items}}{{.name}} {{end}}": "a <b> ",
		"go-template-file=" + file:                      "2",
		"custom-columns=NAME:.name,N:.big":              "NAME   N\na      9007199254740993\n<b>    0\n",
		"custom-columns=X:.absent":                      "X\n<none>\n<none>\n",
		"yaml": "apiVersion: kqos.io/v1alpha1\nitems:\n- big: 9007199254740993\n  files:\n    cpu.max: max 100000\n" +
			"  name: a\n- big: 0\n  name: <b>\nkind: List\n",
	} {
		var b strings.Builder
		if err := Object(&b, format, v, Style{}); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		if d := cmp.Diff(want, b.String()); d != "" {
			t.Errorf("%s: -want +got:\n%s", format, d)
		}
	}
	for _, format := range []string{"xml", "jsonpath={", "go-template={{", "custom-columns=A", "go-template-file=/nowhere"} {
		if err := Object(&strings.Builder{}, format, v, Style{}); err == nil {
			t.Errorf("%s: no error", format)
		}
	}
}
