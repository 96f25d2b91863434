package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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

func (t text) mode() fs.FileMode {
	if t.program {
		return 0o755
	}
	return 0o644
}

// texts are the files beside the binary. Manual and completions are those of the
// commands that are linked here, the rest stands in the source.
func texts(source string, made time.Time) ([]text, error) {
	all, err := completions()
	if err != nil {
		return nil, err
	}
	pages, err := manual(cli.Command(), made)
	if err != nil {
		return nil, err
	}
	for name, page := range pages {
		packed, err := compressed(page)
		if err != nil {
			return nil, err
		}
		installed := "/usr/share/man/man1/" + name + ".gz"
		all = append(all, text{data: page, archived: "man/man1/" + name}, text{data: packed, deb: installed, rpm: installed})
	}
	own, err := standing(source)
	return append(all, own...), err
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
	const units, examples = "/usr/lib/systemd/system", "/usr/share/doc/kqos/examples"
	const config = "/etc/kqos/kubelet.yaml"
	all := map[string]text{
		"LICENSE":                          {archived: "LICENSE", rpm: "/usr/share/licenses/kqos/LICENSE", kind: files.TypeRPMLicense},
		"release/copyright":                {deb: "/usr/share/doc/kqos/copyright"},
		"release/kubelet.yaml":             {deb: config, rpm: config, kind: files.TypeConfigNoReplace},
		"deploy/systemd/kqos.service":      {deb: units, rpm: units},
		"deploy/systemd/kqos-once.service": {deb: units, rpm: units},
		"deploy/systemd/kqos-once.timer":   {deb: units, rpm: units},
		"deploy/cron/kqos":                 {deb: examples, rpm: examples},
	}
	var found []text
	for from, t := range all {
		data, err := os.ReadFile(filepath.Join(source, from))
		if err != nil {
			return nil, fmt.Errorf("reading what packages hold: %w", err)
		}
		t.data = bytes.ReplaceAll(data, []byte("/usr/local/bin/kqos"), []byte("/usr/bin/kqos"))
		switch t.deb {
		case units:
			t.deb, t.rpm = path.Join(units, path.Base(from)), path.Join(units, path.Base(from))
		case examples:
			t.deb, t.rpm = path.Join(examples, "cron.d", "kqos"), path.Join(examples, "cron.d", "kqos")
		}
		found = append(found, t)
	}
	return found, nil
}
