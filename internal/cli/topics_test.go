package cli

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

func topic(t *testing.T, name string) (root *cobra.Command, text string) {
	t.Helper()
	root = newRoot(&app{System: System{Getenv: os.Getenv}})
	cmd, err := helpAbout(root, []string{name})
	if err != nil {
		t.Fatal(err)
	}
	return root, cmd.Long
}

// 'kqos help formats' has every format that some command prints, and names those
// commands where not all do.
func TestTopicFormats(t *testing.T) {
	root, text := topic(t, "formats")
	printing := map[string][]string{}
	all := 0
	for _, cmd := range root.Commands() {
		flag := cmd.Flags().Lookup("output")
		if flag == nil {
			continue
		}
		all++
		_, words, _ := strings.Cut(flag.Usage, ": ")
		for word := range strings.SplitSeq(words, ", ") {
			printing[word] = append(printing[word], cmd.Name())
		}
	}
	told := map[string][]string{}
	for _, line := range regexp.MustCompile(`(?m)^-o ([a-z-]+=?)(.*)$`).FindAllStringSubmatch(text, -1) {
		told[line[1]] = nil
		if _, names, some := strings.Cut(line[2], ": "); some && !strings.HasSuffix(line[1], "=") {
			told[line[1]] = strings.Split(names, ", ")
		}
	}
	for word, names := range printing {
		slices.Sort(names)
		if len(names) == all {
			printing[word] = nil
		}
	}
	if diff := cmp.Diff(printing, told); diff != "" {
		t.Errorf("formats (-printed +told):\n%s", diff)
	}
}

// 'kqos help exit-codes' says of every command whether it ends with 1, and the
// table of every help has the codes of the program. That the words are true,
// testdata/script/exit_codes.txtar shows.
func TestTopicExitCodes(t *testing.T) {
	root, text := topic(t, "exit-codes")
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() && !oneOf(cmd.Name(), "help", "completion") && !regexp.MustCompile(`\b`+cmd.Name()+`\b`).MatchString(text) {
			t.Errorf("%s is not told of", cmd.Name())
		}
	}
	for _, code := range []int{exitDone, exitFound, exitFailed, exitInterrupted, exitTerminated} {
		if !regexp.MustCompile(fmt.Sprintf(`\b%d\b`, code)).MatchString(exitTable) {
			t.Errorf("exit code %d is not in the table", code)
		}
	}
}
