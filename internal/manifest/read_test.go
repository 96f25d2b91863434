package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// folder writes files below a new folder and returns its path.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadFolders(t *testing.T) {
	dir := folder(t, map[string]string{
		"b.yaml": jsonPod("b"), "a.yml": jsonPod("a"), "c.json": jsonPod("c"), "notes.txt": jsonPod("n"), ".hidden.yaml": jsonPod("h"),
		"sub/d.yaml": jsonPod("d"), "empty/x": "",
	})
	for name, c := range map[string]struct {
		inputs []string
		o      Options
		want   string
	}{
		"folder":       {[]string{dir}, Options{}, "h a b c"},
		"recursive":    {[]string{dir}, Options{Recursive: true}, "h a b c d"},
		"static":       {[]string{dir}, Options{Static: true}, "a b c n"},
		"file":         {[]string{filepath.Join(dir, "notes.txt")}, Options{}, "n"},
		"given order":  {[]string{filepath.Join(dir, "c.json"), filepath.Join(dir, "a.yml")}, Options{}, "c a"},
		"with stdin":   {[]string{"-", filepath.Join(dir, "a.yml")}, Options{Stdin: strings.NewReader(jsonPod("s"))}, "s a"},
		"no manifests": {[]string{filepath.Join(dir, "empty")}, Options{}, "! the folder has no .yaml, .yml or .json file; -R also reads the folders in it"},
		"missing":      {[]string{filepath.Join(dir, "gone"), filepath.Join(dir, "a.yml")}, Options{}, "a ! no such file or directory"},
		"stdin twice":  {[]string{"-", "-"}, Options{Stdin: strings.NewReader(jsonPod("s"))}, "s ! standard input is named twice; it can be read once"},
		"URL":          {[]string{"https://x/y.yaml"}, Options{}, "! kqos fetches no URLs; use: curl -s https://x/y.yaml | kqos … -"},
	} {
		in := Read(c.inputs, c.o)
		var words []string
		for _, w := range in.Workloads {
			words = append(words, w.Source.Name)
		}
		for _, p := range in.Errors {
			words = append(words, "! "+p.Message)
		}
		if diff := cmp.Diff(c.want, strings.Join(words, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
