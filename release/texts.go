package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2/files"
	"github.com/spf13/cobra"

	"github.com/kqos/kqos/internal/cli"
)

// text is a file beside the binary.
type text struct {
	data []byte
	// archived is its path in archives, deb and rpm are those on systems of either
	// kind; empty where it is left out.
	archived, deb, rpm string
	// kind is what packagers take it for; empty for an ordinary file.
	kind    string
	program bool
}

// The folders of what is about kqos; the last is that of systems with RPM.
const (
	documents = "/usr/share/doc/kqos/"
	examples  = documents + "examples/"
	licenses  = "/usr/share/licenses/kqos/"
)

func (t text) mode() fs.FileMode {
	if t.program {
		return 0o755
	}
	return 0o644
}

// describe gathers the texts. Manual and completions are those of the commands that
// are linked here, the rest stands in the source or is told by the binaries.
func (r *release) describe() error {
	scripts, err := completions()
	if err != nil {
		return fmt.Errorf("making completions: %w", err)
	}
	pages, err := manual(cli.Command(), r.made)
	if err != nil {
		return fmt.Errorf("making the manual: %w", err)
	}
	standing, err := standing(r.source)
	if err != nil {
		return fmt.Errorf("reading what packages hold: %w", err)
	}
	r.texts = slices.Concat(scripts, standing)
	for name, page := range pages {
		at := "/usr/share/man/man1/" + name + ".gz"
		if err := r.addPacked(text{data: page, archived: "man/man1/" + name, deb: at, rpm: at}); err != nil {
			return err
		}
	}
	others, err := r.licenses()
	if err != nil {
		return err
	}
	const name = "THIRD-PARTY-LICENSES"
	r.texts = append(r.texts, text{data: others, archived: name, rpm: licenses + name, kind: files.TypeRPMLicense})
	return errors.Join(
		r.addPacked(text{data: others, deb: documents + name + ".gz"}),
		r.addPacked(text{data: r.changes(), deb: documents + "changelog.Debian.gz"}),
	)
}

// addPacked adds a text that is plain in archives and compressed in packages.
func (r *release) addPacked(t text) error {
	if t.archived != "" {
		r.texts = append(r.texts, text{data: t.data, archived: t.archived})
	}
	var err error
	t.archived = ""
	t.data, err = compressed(t.data)
	r.texts = append(r.texts, t)
	return err
}

// changes is what Debian wants to know of a version.
func (r *release) changes() []byte {
	return fmt.Appendf(nil, "kqos (%s) stable; urgency=medium\n\n  * See %s/releases.\n\n -- %s  %s\n",
		strings.Replace(r.version, "-", "~", 1), homepage, maintainer, r.made.Format(time.RFC1123Z))
}

// completions are the scripts that complete commands in shells.
func completions() ([]text, error) {
	root := cli.Command()
	const fish = "/usr/share/fish/vendor_completions.d/kqos.fish"
	const bash = "/usr/share/bash-completion/completions/kqos"
	all := []text{
		{archived: "completions/kqos.bash", deb: bash, rpm: bash},
		{archived: "completions/_kqos", deb: "/usr/share/zsh/vendor-completions/_kqos", rpm: "/usr/share/zsh/site-functions/_kqos"},
		{archived: "completions/kqos.fish", deb: fish, rpm: fish},
	}
	for i, write := range []func(*cobra.Command, io.Writer) error{
		func(c *cobra.Command, w io.Writer) error { return c.GenBashCompletionV2(w, true) },
		(*cobra.Command).GenZshCompletion,
		func(c *cobra.Command, w io.Writer) error { return c.GenFishCompletion(w, true) },
	} {
		var script bytes.Buffer
		if err := write(root, &script); err != nil {
			return nil, err
		}
		all[i].data = script.Bytes()
	}
	// kubectl runs it to complete what follows "kubectl kqos".
	const name = "kubectl_complete-kqos"
	return append(all, text{
		data:     []byte("#!/bin/sh\nexec kubectl-kqos __complete \"$@\"\n"),
		archived: name, deb: "/usr/bin/" + name, rpm: "/usr/bin/" + name, program: true,
	}), nil
}

// standing are the texts that are taken from the source as they are, but that what
// runs a binary that was installed by hand runs that of the package.
func standing(source string) ([]text, error) {
	const units = "/usr/lib/systemd/system/"
	const config = "/etc/kqos/kubelet.yaml"
	all := map[string]text{
		"LICENSE":              {archived: "LICENSE", rpm: licenses + "LICENSE", kind: files.TypeRPMLicense},
		"release/copyright":    {deb: documents + "copyright"},
		"release/kubelet.yaml": {deb: config, rpm: config, kind: files.TypeConfigNoReplace},
		"deploy/cron/kqos":     {deb: examples + "kqos.cron", rpm: examples + "kqos.cron"},
	}
	for _, unit := range []string{"kqos.service", "kqos-once.service", "kqos-once.timer"} {
		all["deploy/systemd/"+unit] = text{deb: units + unit, rpm: units + unit}
	}
	var found []text
	for from, t := range all {
		data, err := os.ReadFile(filepath.Join(source, from))
		if err != nil {
			return nil, err
		}
		t.data = bytes.ReplaceAll(data, []byte("/usr/local/bin/kqos"), []byte("/usr/bin/kqos"))
		found = append(found, t)
	}
	return found, nil
}
