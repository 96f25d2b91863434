package render

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// relaxed accepts x.y.z and .x.y.z for {.x.y.z}, as kubectl does.
func relaxed(path string) string {
	if strings.Contains(path, "{") || path == "" {
		return path
	}
	return "{." + strings.TrimPrefix(path, ".") + "}"
}

// customColumns prints NAME:path pairs, one row for each member of the
// object's list, or one for the object that has none.
func customColumns(w io.Writer, spec string, object map[string]any, s Style) error {
	var table Table
	var paths []*jsonpath.JSONPath
	for part := range strings.SplitSeq(strings.TrimSpace(spec), ",") {
		name, path, ok := strings.Cut(part, ":")
		if !ok || name == "" || path == "" {
			return fmt.Errorf("-o custom-columns: %q is not NAME:path, such as CLASS:.qosClass", part)
		}
		p := jsonpath.New(name).AllowMissingKeys(true)
		if err := p.Parse(relaxed(path)); err != nil {
			return fmt.Errorf("-o custom-columns: parsing path %q: %w", path, err)
		}
		table.Columns = append(table.Columns, Column{Name: name})
		paths = append(paths, p)
	}
	for _, member := range members(object) {
		row := make([]string, len(paths))
		for i, p := range paths {
			found, err := p.FindResults(member)
			if err != nil {
				return fmt.Errorf("-o custom-columns: column %s: %w", table.Columns[i].Name, err)
			}
			row[i] = cell(found)
		}
		table.Rows = append(table.Rows, row)
	}
	return table.Print(w, s)
}

func members(object map[string]any) []any {
	for _, list := range []string{"items", "cgroups", "checks", "nodes", "cpus"} {
		if m, ok := object[list].([]any); ok {
			return m
		}
	}
	return []any{object}
}

func cell(found [][]reflect.Value) string {
	var words []string
	for _, group := range found {
		for _, v := range group {
			words = append(words, fmt.Sprint(v.Interface()))
		}
	}
	if len(words) == 0 {
		return "<none>"
	}
	return strings.Join(words, ",")
}
