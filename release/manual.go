package main

import (
	"bytes"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// manual makes a page for each command and each topic of help, by file name.
func manual(root *cobra.Command, made time.Time) (map[string][]byte, error) {
	root.InitDefaultCompletionCmd()
	_, codes, _ := strings.Cut(root.HelpTemplate(), "Exit codes:\n")
	pages := map[string][]byte{}
	var add func(cmd *cobra.Command) error
	add = func(cmd *cobra.Command) error {
		quote(cmd)
		var page bytes.Buffer
		header := &doc.GenManHeader{Section: "1", Date: &made, Source: "kqos", Manual: "kqos"}
		if err := doc.GenMan(cmd, header, &page); err != nil {
			return err
		}
		pages[strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"] = withCodes(page.Bytes(), codes)
		for _, sub := range cmd.Commands() {
			if sub.Hidden || sub.Name() == "help" {
				continue
			}
			if err := add(sub); err != nil {
				return err
			}
		}
		return nil
	}
	return pages, add(root)
}

// withCodes puts the exit codes where manuals have them.
func withCodes(page []byte, codes string) []byte {
	at := len(page)
	for _, section := range []string{"\n.SH EXAMPLE", "\n.SH SEE ALSO"} {
		if i := bytes.Index(page, []byte(section)); i >= 0 {
			at = min(at, i+1)
		}
	}
	status := "\n.SH EXIT STATUS\n.nf\n" + strings.TrimRight(codes, "\n") + "\n.fi\n\n"
	return bytes.Join([][]byte{page[:at], page[at:]}, []byte(status))
}

// quote makes Markdown of a command's help, from which the page is made: what is
// aligned by hand stays so, and no character means more than itself.
func quote(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	// A topic takes nothing.
	cmd.DisableFlagsInUseLine = cmd.DisableFlagsInUseLine || !cmd.Runnable()
	cmd.Short = escaped(cmd.Short)
	var blocks []string
	for block := range strings.SplitSeq(strings.TrimSpace(cmd.Long), "\n\n") {
		if aligned(block) {
			block = "```\n" + block + "\n```"
		} else {
			block = escaped(block)
		}
		blocks = append(blocks, block)
	}
	cmd.Long = strings.Join(blocks, "\n\n")
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = escaped(f.Usage) })
}

func aligned(block string) bool {
	for line := range strings.Lines(block) {
		if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") || strings.Contains(line, "   ") {
			return true
		}
	}
	return false
}

func escaped(s string) string {
	return strings.NewReplacer(
		`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `<`, `\<`, `>`, `\>`, `|`, `\|`, `~`, `\~`,
	).Replace(s)
}
