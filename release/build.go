package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// binary is kqos for one platform.
type binary struct {
	os, arch string
	path     string
	info     *buildinfo.BuildInfo
}

func (b binary) String() string { return b.os + "/" + b.arch }

// name is that of a file made of the binary, before its ending.
func (r *release) name(b binary) string {
	return fmt.Sprintf("kqos_%s_%s_%s", r.version, b.os, b.arch)
}

// checkout clones the commit that is checked out at root. Go records no commit in
// what it builds in a linked worktree, and what is not committed is no part of a
// release.
func checkout(root, to string) error {
	cmd := exec.Command("git", "clone", "--quiet", "--", root, to)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("cloning %s: %w: a release is made of a git repository", root, err)
	}
	return nil
}

// build compiles the main package of the source for each platform, and takes
// version and time from what Go recorded of the commit.
func (r *release) build(main, work string, targets []string) error {
	for _, target := range targets {
		b := binary{path: filepath.Join(work, strings.ReplaceAll(target, "/", "-"), "kqos")}
		b.os, b.arch, _ = strings.Cut(target, "/")
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", b.path, main)
		cmd.Dir, cmd.Stderr = r.source, os.Stderr
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+b.os, "GOARCH="+b.arch, "GOFLAGS=", "GOWORK=off")
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("building for %s: %w", target, err)
		}
		var err error
		if b.info, err = buildinfo.ReadFile(b.path); err != nil {
			return err
		}
		r.binaries = append(r.binaries, b)
	}
	info := r.binaries[0].info
	r.version = strings.TrimPrefix(info.Main.Version, "v")
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			var err error
			r.made, err = time.Parse(time.RFC3339, s.Value)
			return err
		}
	}
	return fmt.Errorf("go recorded no commit in %s", r.binaries[0])
}
