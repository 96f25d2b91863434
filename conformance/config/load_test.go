// Package config compares how kqos loads and validates a KubeletConfiguration
// with the kubelet's own command.
package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kqos/kqos/conformance/check"
	"github.com/kqos/kqos/conformance/gen"
	"github.com/kqos/kqos/conformance/oracle/gates"
	"github.com/kqos/kqos/conformance/oracle/start"
	"github.com/kqos/kqos/internal/kubelet"
)

// input is what a kubelet is started with.
type input struct {
	Config        gen.Document      `json:"config,omitempty"`
	Text          string            `json:"text,omitempty"`
	Dropins       map[string]string `json:"dropins,omitempty"`
	Gates         map[string]bool   `json:"featureGates,omitempty"`
	Flags         []string          `json:"flags,omitempty"`
	CgroupVersion int               `json:"cgroupVersion"`
}

// write puts the input into a folder and says how to start on it.
func (in input) write(dir string) (start.Options, error) {
	o := start.Options{Gates: in.Gates, Flags: in.Flags}
	if text := in.text(); text != nil {
		o.File = filepath.Join(dir, "kubelet.yaml")
		if err := os.WriteFile(o.File, text, 0o600); err != nil {
			return o, err
		}
	}
	if in.Dropins == nil {
		return o, nil
	}
	o.Dir = filepath.Join(dir, "kubelet.conf.d")
	if err := os.RemoveAll(o.Dir); err != nil {
		return o, err
	}
	for name, text := range in.Dropins {
		path := filepath.Join(o.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return o, err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return o, err
		}
	}
	return o, os.MkdirAll(o.Dir, 0o755)
}

// text is that of the main file, nil where there is none.
func (in input) text() []byte {
	switch {
	case in.Text != "":
		return []byte(in.Text)
	case in.Config != nil:
		return in.Config.JSON()
	}
	return nil
}

func kqos(t *rapid.T, o start.Options, cgroupVersion int, known map[string]bool) start.Answer {
	c, err := kubelet.Load(kubelet.LoadOptions{File: o.File, Dir: o.Dir, Gates: o.Gates, Flags: o.Flags, Minor: check.Minor(t)})
	if err != nil {
		return start.Answer{Error: err.Error()}
	}
	if len(c.Refused) > 0 {
		// kqos goes on with a document that it finds further down.
		return start.Answer{Error: c.Refused[0].Message}
	}
	a := start.Answer{Config: &c.KubeletConfiguration, Gates: map[string]bool{}}
	for name := range known {
		a.Gates[name] = c.Gates.Enabled(name)
	}
	for _, f := range c.Validate(cgroupVersion) {
		a.Findings = append(a.Findings, f.Message)
	}
	start.Settle(a.Findings)
	return a
}

// compare runs both sides on one input. The gates that result are compared only
// where withGates asks for it: there are hundreds.
func compare(t *rapid.T, dir string, in input, withGates bool) {
	o, err := in.write(dir)
	if err != nil {
		t.Fatal(err)
	}
	want, err := start.Judge(o, in.CgroupVersion)
	if err != nil {
		t.Fatal(err)
	}
	got := kqos(t, o, in.CgroupVersion, want.Gates)
	if sameGates(want.Error, got.Error) {
		return
	}
	if want.Error != "" && strings.Contains(got.Error, ", error document ") {
		return // kqos tells what is wrong with the configuration among several documents
	}
	if got.Config != nil {
		if got.Config, err = start.Normal(got.Config); err != nil {
			t.Fatal(err)
		}
	}
	if !withGates {
		want.Gates, got.Gates = nil, nil
	}
	check.Equal(t, in, want, got)
}

// sameGates tells whether two errors name the same gates. The kubelet stops at
// the first unknown one that its map yields, where kqos lists all, and lists
// the others in any order.
func sameGates(want, got string) bool {
	unknown := strings.Contains(want, "unrecognized feature gate: ")
	if !unknown && !strings.Contains(want, "cannot set feature gate ") && !strings.Contains(want, "but depends on features") {
		return false
	}
	theirs, ours := gateErrors(want), gateErrors(got)
	if len(theirs) != len(ours) && !unknown {
		return false
	}
	return !slices.ContainsFunc(theirs, func(one string) bool { return !slices.Contains(ours, one) })
}

// gateErrors are the single errors of a text that ends in one or a list.
func gateErrors(text string) []string {
	for _, start := range []string{"flags-based config: ", "setting defaults, error: "} {
		if _, list, ok := strings.Cut(text, start); ok {
			text = list
		}
	}
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"), ", ")
}

func TestOneFile(t *testing.T) {
	dir := t.TempDir()
	for _, fields := range []int{1, 4, 30} {
		t.Run(fmt.Sprintf("%d-fields", fields), func(t *testing.T) {
			check.Property(t, 1500, func(t *rapid.T) {
				compare(t, dir, input{
					Config:        gen.Config(fields).Draw(t, "config"),
					CgroupVersion: rapid.IntRange(1, 2).Draw(t, "cgroup version"),
				}, false)
			})
		})
	}
}

func TestText(t *testing.T) {
	dir := t.TempDir()
	check.Property(t, 2000, func(t *rapid.T) {
		compare(t, dir, input{Text: gen.ConfigText(5).Draw(t, "text"), CgroupVersion: 2}, false)
	})
}

func TestDropins(t *testing.T) {
	dir := t.TempDir()
	check.Property(t, 1500, func(t *rapid.T) {
		in := input{CgroupVersion: 2, Dropins: map[string]string{}, Gates: gen.Gates().Draw(t, "gates")}
		if rapid.IntRange(0, 5).Draw(t, "file") > 0 {
			in.Config = gen.Config(6).Draw(t, "config")
		}
		for range rapid.IntRange(0, 3).Draw(t, "dropins") {
			name := rapid.SampledFrom([]string{"10-a.conf", "20-b.conf", "90.conf", "sub/50.conf", "z.yaml", ".conf"}).Draw(t, "name")
			in.Dropins[name] = gen.DropinText().Draw(t, name)
		}
		compare(t, dir, in, false)
	})
}

// TestFlags compares what a command line makes of a file, or of none.
func TestFlags(t *testing.T) {
	dir := t.TempDir()
	check.Property(t, 1500, func(t *rapid.T) {
		in := input{CgroupVersion: 2, Flags: gen.Flags().Draw(t, "flags")}
		if rapid.IntRange(0, 3).Draw(t, "file") > 0 {
			in.Config = gen.Config(4).Draw(t, "config")
		}
		compare(t, dir, in, false)
	})
}

func TestGates(t *testing.T) {
	dir := t.TempDir()
	names := slices.Sorted(maps.Keys(gates.Values()))
	check.Property(t, 600, func(t *rapid.T) {
		own := gen.KnownGates(names).Draw(t, "config gates")
		doc := gen.Config(0).Draw(t, "config")
		doc["featureGates"] = own
		compare(t, dir, input{
			Config: doc, Gates: gen.KnownGates(names).Draw(t, "flags"), CgroupVersion: 2,
		}, true)
	})
}
