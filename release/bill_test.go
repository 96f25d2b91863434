package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
)

// TestBill compares the bills with what go version -m says of the binary.
func TestBill(t *testing.T) {
	said, err := exec.Command("go", "version", "-m", filepath.Join(filepath.Dir(made.out), "kqos")).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(said)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && strings.HasSuffix(words[0], ":"):
			want = append(want, "std "+words[1])
		case words[0] == "dep":
			want = append(want, words[1]+" "+words[2]+" "+words[3])
		case words[0] == "=>":
			t.Error("a release replaces no module: ", line)
		}
	}
	if len(want) < 20 {
		t.Fatalf("go version -m names %d modules only:\n%s", len(want), said)
	}
	for _, b := range made.binaries {
		var bill cdx.BOM
		if err := cdx.NewBOMDecoder(bytes.NewReader(file(t, made.name(b)+".cdx.json")), cdx.BOMFileFormatJSON).Decode(&bill); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range *bill.Components {
			if c.PackageURL != "pkg:golang/"+c.Name+"@"+c.Version {
				t.Errorf("%s %s has the URL %s", c.Name, c.Version, c.PackageURL)
			}
			line := c.Name + " " + c.Version
			if c.Properties != nil {
				line += " " + (*c.Properties)[0].Value
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-go version -m +bill):\n%s", b, diff)
		}
		main := bill.Metadata.Component
		if main.Version != "v1.2.3-rc.1" || (*main.Hashes)[0].Value != sum(program(t, b.os, b.arch)) {
			t.Errorf("%s: the bill is of %s with %v", b, main.Version, *main.Hashes)
		}
	}
}

// TestLicenses looks for each module of the bill, and for the words of its license.
func TestLicenses(t *testing.T) {
	text, err := made.licenses()
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range made.binaries[0].info.Deps {
		if !bytes.Contains(text, []byte("\n"+module.Path+" "+module.Version+"\n")) {
			t.Errorf("nothing of %s", module.Path)
		}
	}
	for _, words := range []string{
		"\nGo go1.", "Copyright 2009 The Go Authors", "Apache License", "MIT License",
	} {
		if !bytes.Contains(text, []byte(words)) {
			t.Errorf("nothing of %q", words)
		}
	}
	if _, err := gathered(map[string]string{"example.com/unlicensed v1.0.0": t.TempDir()}); err == nil {
		t.Error("a module without a license would be handed on")
	}
}
