package main

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers itself
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers itself
)

const (
	homepage    = "https://github.com/kqos/kqos"
	maintainer  = "kqos maintainers <kqos@users.noreply.github.com>"
	summary     = "what the kubelet does with a pod on a node"
	description = `Answers offline what the kubelet will do with a pod on a node, what it did,
and whether the node is really in that state, with the numbers of the kubelet
and the reason for each: QoS class, allocatable, cgroups, and placement on
CPUs, NUMA nodes and devices. It can also make the node so; nothing of it is
enabled when it is installed.`
)

//go:embed scripts
var scripts embed.FS

// pack makes a package of a format, "deb" or "rpm": the binary, also by the name
// under which kubectl finds it, its texts, and units of systemd that nothing enables.
func (r *release) pack(b binary, format string) error {
	work, err := os.MkdirTemp("", "kqos-package-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	// nfpm takes scripts from files only.
	if err := os.CopyFS(work, scripts); err != nil {
		return err
	}
	contents, err := r.contents(b, format, work)
	if err != nil {
		return err
	}
	about := description
	if format == "deb" {
		about = summary + "\n" + about
	}
	script := func(name string) string { return filepath.Join(work, "scripts", name) }
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "kqos", Arch: b.arch, Platform: b.os, Version: r.version, Section: "admin", Priority: "optional",
		Maintainer: maintainer, Homepage: homepage, License: "Apache-2.0", Description: about,
		MTime: r.made, DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Contents: contents,
			Scripts: nfpm.Scripts{
				PostInstall: script("postinstall.sh"), PreRemove: script("preremove.sh"), PostRemove: script("postremove.sh"),
			},
			// Else the name of the host that packs is part of the package.
			RPM: nfpm.RPM{Summary: summary, Packager: maintainer, BuildHost: "kqos"},
		},
	})
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	var made bytes.Buffer
	if err := packager.Package(info, &made); err != nil {
		return fmt.Errorf("making a %s: %w", format, err)
	}
	return r.create(packager.ConventionalFileName(info), made.Bytes())
}

// contents are the files of a package by their paths.
func (r *release) contents(b binary, format, work string) (files.Contents, error) {
	stamp := func(mode os.FileMode) *files.ContentFileInfo {
		return &files.ContentFileInfo{Mode: mode, MTime: r.made, Owner: "root", Group: "root"}
	}
	const pages = "/usr/share/man/man1/"
	all := files.Contents{
		{Source: b.path, Destination: "/usr/bin/kqos", FileInfo: stamp(0o755)},
		{Source: "kqos", Destination: "/usr/bin/kubectl-kqos", Type: files.TypeSymlink, FileInfo: stamp(0o777)},
		{Source: "kqos.1.gz", Destination: pages + "kubectl-kqos.1.gz", Type: files.TypeSymlink, FileInfo: stamp(0o777)},
	}
	// RPM leaves a folder that the package does not own.
	own := []string{"/etc/kqos", "/etc/kqos/pods", documents, examples}
	if format == "rpm" {
		own = append(own, licenses)
	}
	for _, folder := range own {
		all = append(all, &files.Content{Destination: folder, Type: files.TypeDir, FileInfo: stamp(0o755)})
	}
	for i, t := range r.texts {
		to := t.deb
		if format == "rpm" {
			to = t.rpm
		}
		if to == "" {
			continue
		}
		from := filepath.Join(work, fmt.Sprint(i))
		if err := os.WriteFile(from, t.data, 0o600); err != nil {
			return nil, err
		}
		all = append(all, &files.Content{Source: from, Destination: to, Type: t.kind, FileInfo: stamp(t.mode())})
	}
	return all, nil
}
