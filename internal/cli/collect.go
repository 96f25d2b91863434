package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kqos/kqos/internal/inspect/collect"
	"github.com/kqos/kqos/internal/render"
)

// collectOptions are what the collect command was asked for.
type collectOptions struct {
	output    outputFlags
	archive   string
	hostRoot  string
	config    string
	configDir string
	dryRun    bool
}

func newCollect(a *app) *cobra.Command {
	o := &collectOptions{}
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "Pack what kqos reads of a node, to look at it elsewhere",
		Long: `collect packs the files of this node that the other commands read into one
archive, which each of them takes with --host-root: the topology below /sys, some
of /proc, the kubelet's configuration and checkpoint files, the cgroup tree with
its control files, and the names of the kubelet's pod folders.

What goes in is on a list. No secrets are: no environment, no pod specs, no logs;
of the runtimes' configuration only what decides on the cgroup driver, of the
kernel's parameters those that decide on cgroups, CPUs and memory, of device
plugins' answers nothing. The same files give the same archive, byte for byte.
The listing says what was packed; --dry-run lists only.`,
		Example: `  sudo kqos collect -O node.tar.gz
  kqos collect --dry-run -o wide
  kqos doctor --host-root node.tar.gz
  ssh node sudo kqos collect -O - > node.tar.gz`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a) },
	}
	o.output.add(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.archive, "archive", "O", "node.tar.gz", "where to write the archive, - for stdout")
	f.StringVar(&o.hostRoot, "host-root", "/", "prefix for /proc, /sys, /etc, /var and /run")
	f.StringVar(&o.config, "config", "", "the kubelet's configuration, below --host-root; default: that of the host's kubelet")
	f.StringVar(&o.configDir, "config-dir", "", "its folder of drop-ins, below --host-root")
	f.BoolVar(&o.dryRun, "dry-run", false, "list what would be packed, write nothing")
	return cmd
}

func (o *collectOptions) run(ctx context.Context, a *app) error {
	if err := o.output.check(); err != nil {
		return err
	}
	c, err := collect.Read(ctx, collect.Options{Root: o.hostRoot, Config: o.config, ConfigDir: o.configDir})
	if err != nil {
		return err
	}
	if len(c.Entries) == 0 {
		return fmt.Errorf("--host-root %s: none of the files of a node are there", o.hostRoot)
	}
	for _, n := range c.Notes {
		a.logger().Warn(n)
	}
	switch {
	case o.dryRun:
		return o.output.print(a, collectionView("", 0, c))
	case o.archive == "-":
		return c.Write(a.Out)
	}
	a.hold()
	size, err := writeArchive(o.archive, c)
	if err != nil {
		return fmt.Errorf("writing %s: %w", o.archive, err)
	}
	return o.output.print(a, collectionView(o.archive, size, c))
}

// writeArchive writes the file whole or not at all. Only its owner may read it:
// names of pods tell something, too.
func writeArchive(file string, c *collect.Collection) (size int64, err error) {
	beside, err := os.CreateTemp(filepath.Dir(file), ".kqos-collect-")
	if err != nil {
		return 0, err
	}
	err = c.Write(beside)
	if info, failed := beside.Stat(); failed == nil {
		size = info.Size()
	}
	if err = errors.Join(err, beside.Close()); err == nil {
		err = os.Rename(beside.Name(), file)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(beside.Name()))
	}
	return size, nil
}

// collection is the contract of collect.
type collection struct {
	typeMeta
	// Archive is the file written, Size its bytes; empty with --dry-run.
	Archive string `json:"archive,omitempty"`
	Size    int64  `json:"size,omitempty"`
	// Bytes is the size of all content, unpacked.
	Bytes int             `json:"bytes"`
	Files []collect.Entry `json:"files"`
	Notes []string        `json:"notes,omitempty"`
}

func collectionView(archive string, size int64, c *collect.Collection) view {
	v := view{object: collection{typeMeta: kind("Collection"), Archive: archive, Size: size, Bytes: c.Bytes(), Files: c.Entries, Notes: c.Notes}}
	for _, e := range c.Entries {
		v.names = append(v.names, e.Path)
	}
	v.text = func(w io.Writer, s render.Style) error {
		t := areaTable(c)
		if s.Wide {
			t = fileTable(c)
		}
		if err := t.Print(w, s); err != nil || archive == "" {
			return err
		}
		_, err := fmt.Fprintf(w, "\n%s: %s\n", archive, render.Size(size))
		return err
	}
	return v
}

// areaTable sums up by the first folders of the paths.
func areaTable(c *collect.Collection) render.Table {
	t := render.Table{Columns: []render.Column{{Name: "BELOW"}, {Name: "ENTRIES", Right: true}, {Name: "SIZE", Right: true}}}
	var order []string
	entries, bytes := map[string]int{}, map[string]int{}
	for _, e := range c.Entries {
		parts := strings.Split(e.Path, "/")
		area := "/" + strings.Join(parts[:max(1, min(len(parts)-1, 3))], "/")
		if entries[area] == 0 {
			order = append(order, area)
		}
		entries[area]++
		bytes[area] += e.Bytes
	}
	for _, area := range order {
		t.Rows = append(t.Rows, []string{area, strconv.Itoa(entries[area]), render.Size(int64(bytes[area]))})
	}
	return t
}

func fileTable(c *collect.Collection) render.Table {
	t := render.Table{Columns: []render.Column{{Name: "PATH"}, {Name: "BYTES", Right: true}, {Name: "LINK"}}}
	for _, e := range c.Entries {
		t.Rows = append(t.Rows, []string{"/" + e.Path, strconv.Itoa(e.Bytes), e.Link})
	}
	return t
}
