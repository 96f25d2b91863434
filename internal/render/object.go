package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"

	"github.com/kqos/kqos/internal/input"
)

// ObjectFormats lists the output formats that print the whole object. Those
// that end in "=" take a template or a file after it.
func ObjectFormats() []string {
	return []string{
		"json", "yaml", "kyaml", "jsonpath=", "jsonpath-as-json=", "jsonpath-file=",
		"go-template=", "go-template-file=", "custom-columns=", "custom-columns-file=",
	}
}

// Object prints a JSON-encodable value in one of kubectl's object formats, such
// as "json" or "jsonpath={.items[*].name}".
func Object(w io.Writer, format string, v any, s Style) error {
	name, arg, _ := strings.Cut(format, "=")
	if base, ok := strings.CutSuffix(name, "-file"); ok {
		text, err := input.File(arg, input.Config)
		if err != nil {
			return fmt.Errorf("reading the template of -o %s: %w", name, err)
		}
		name, arg = base, string(text)
	}
	switch name {
	case "json":
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "    ")
		return e.Encode(v)
	case "yaml":
		text, err := yaml.Marshal(v)
		if err != nil {
			return fmt.Errorf("encoding as YAML: %w", err)
		}
		_, err = w.Write(text)
		return err
	}
	object, err := generic(v)
	if err != nil {
		return err
	}
	if name == "custom-columns" {
		return customColumns(w, arg, object.Object, s)
	}
	p, err := printer(name, arg)
	if err != nil {
		return fmt.Errorf("-o %s: %w", name, err)
	}
	return p.PrintObj(object, w)
}

func printer(name, arg string) (printers.ResourcePrinter, error) {
	switch name {
	case "kyaml":
		return &printers.KYAMLPrinter{}, nil
	case "go-template":
		return printers.NewGoTemplatePrinter([]byte(arg))
	case "jsonpath", "jsonpath-as-json":
		p, err := printers.NewJSONPathPrinter(relaxed(arg))
		if err != nil {
			return nil, err
		}
		p.EnableJSONOutput(name == "jsonpath-as-json")
		p.AllowMissingKeys(true)
		return p, nil
	}
	return nil, fmt.Errorf("unknown format %q", name)
}

// generic turns a typed value into the maps and slices that kubectl's printers
// walk, keeping integers exact.
func generic(v any) (*unstructured.Unstructured, error) {
	var buf bytes.Buffer
	if err := json.NewEncoder(&buf).Encode(v); err != nil {
		return nil, fmt.Errorf("encoding the result: %w", err)
	}
	var m map[string]any
	if err := utiljson.Unmarshal(buf.Bytes(), &m); err != nil {
		return nil, fmt.Errorf("decoding the result: %w", err)
	}
	return &unstructured.Unstructured{Object: m}, nil
}
