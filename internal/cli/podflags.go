package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/manifest"
)

// podFlags say where pods come from and how they are read.
type podFlags struct {
	files     []string
	recursive bool
	strict    bool
	static    bool
	asWritten bool
	// more are pods that a flag of the command describes, after those of files.
	more []manifest.Workload
}

func (p *podFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVarP(&p.files, "filename", "f", nil, "file, folder or - (stdin) with pods; repeatable, as positional arguments are")
	f.BoolVarP(&p.recursive, "recursive", "R", false, "read folders with all below them")
	f.BoolVar(&p.strict, "strict", false, "other kinds and unknown fields are errors")
	f.BoolVar(&p.static, "static", false, "read pods as the kubelet reads its static pod folder")
	f.BoolVar(&p.asWritten, "as-written", false, "take objects exactly as they stand, status.qosClass believed (live objects, /pods)")
}

// check takes the positional arguments in and refuses contradictions.
func (p *podFlags) check(args []string) error {
	p.files = slices.Concat(args, p.files)
	if p.static && p.asWritten {
		return errors.New("--static and --as-written exclude each other: one reads a file of the static pod folder, the other a live object")
	}
	for _, file := range p.files {
		if strings.HasPrefix(file, machine.SyntheticPrefix) {
			return fmt.Errorf("%s describes a machine, and pods are read here: give it by --topology", file)
		}
	}
	return nil
}

// reading names how pods are read, as results tell it.
func (p *podFlags) reading() string {
	switch {
	case p.static:
		return "static"
	case p.asWritten:
		return "as-written"
	}
	return "created"
}
