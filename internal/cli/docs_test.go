package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocs runs what README.md and docs/*.md show: in a block marked console, a
// line that starts with "$ " is a command, run by sh at the root of the
// repository, and the lines up to the next one are all that it prints. With
// -update the output is rewritten.
func TestDocs(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	// What a page asks of a cluster was recorded.
	t.Setenv("PATH", filepath.Join(root, "testdata/fleet/bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	pages, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			got := runBlocks(string(text), func(command string) string {
				cmd := exec.Command("sh", "-c", command)
				cmd.Dir = root
				out, _ := cmd.CombinedOutput() // a page may show a refusal
				return string(out)
			})
			if got == string(text) {
				return
			}
			if *update {
				if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("the page shows other output (-page +run; run with -update):\n%s", cmp.Diff(string(text), got))
		})
	}
}

// runBlocks returns the page with the output of each command in its console
// blocks replaced by what run gives.
func runBlocks(page string, run func(command string) string) string {
	var out strings.Builder
	console := false
	for line := range strings.Lines(page) {
		fence := strings.HasPrefix(line, "```")
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case fence:
			console = !console && strings.TrimSpace(line) == "```console"
			out.WriteString(line)
		case console && isCommand:
			out.WriteString(line)
			out.WriteString(run(command))
		case !console:
			out.WriteString(line)
		}
	}
	return out.String()
}

func TestRunBlocks(t *testing.T) {
	page := "text\n```console\n$ a\nold\n$ b\n```\nmore\n```sh\n$ c\n```\n"
	got := runBlocks(page, func(c string) string { return "<" + strings.TrimSpace(c) + ">\n" })
	want := "text\n```console\n$ a\n<a>\n$ b\n<b>\n```\nmore\n```sh\n$ c\n```\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Error("-want +got:\n" + d)
	}
}

// TestDocsPicture keeps the picture that README.md shows true.
func TestDocsPicture(t *testing.T) {
	cmd := exec.Command("kqos", "simulate", "testdata/node", "-o", "svg")
	cmd.Dir = "../.."
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	const page = "../../docs/node.svg"
	if *update {
		if err := os.WriteFile(page, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got) {
		t.Error("docs/node.svg is not what the command draws; run with -update")
	}
}

// TestReadmeDependencies wants every module that go.mod requires directly in the
// table of README.md, written whole or within braces.
func TestReadmeDependencies(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, word := range regexp.MustCompile("`([^`\\s]+)`").FindAllStringSubmatch(string(readme), -1) {
		before, rest, _ := strings.Cut(word[1], "{")
		inner, after, _ := strings.Cut(rest, "}")
		for part := range strings.SplitSeq(inner, ",") {
			named[before+part+after] = true
		}
	}
	required := regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(string(mod), -1)
	if len(required) < 20 {
		t.Errorf("only %d requirements were found", len(required))
	}
	for _, module := range required {
		if !named[module[1]] && !named[module[1]+"/pkg/printers"] && !named[module[1]+"/cpuset"] {
			t.Errorf("README.md does not name %s", module[1])
		}
	}
}
