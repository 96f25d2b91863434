package main

import (
	"bytes"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/blakesmith/ar"
	"github.com/google/go-cmp/cmp"
	"github.com/sassoftware/go-rpmutils"
)

// inDeb reads a package of Debian as dpkg does: the files, and what controls them.
func inDeb(t *testing.T, name string) (data, control map[string]entry) {
	t.Helper()
	parts := map[string][]byte{}
	var order []string
	for in := ar.NewReader(bytes.NewReader(file(t, name))); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		part, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		parts[h.Name], order = part, append(order, h.Name)
	}
	if want := []string{"debian-binary", "control.tar.gz", "data.tar.gz"}; !slices.Equal(order, want) {
		t.Fatalf("%s holds %q, not %q", name, order, want)
	}
	return entries(t, bytes.NewReader(unpacked(t, parts["data.tar.gz"]))),
		entries(t, bytes.NewReader(unpacked(t, parts["control.tar.gz"])))
}

func TestDeb(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		name := "kqos_1.2.3~rc.1_" + arch + ".deb"
		data, control := inDeb(t, name)
		const want = `-rw-r--r-- ./etc/kqos/kubelet.yaml
-rwxr-xr-x ./usr/bin/kqos
Lrwxrwxrwx ./usr/bin/kubectl-kqos -> kqos
-rwxr-xr-x ./usr/bin/kubectl_complete-kqos
-rw-r--r-- ./usr/lib/systemd/system/kqos-once.service
-rw-r--r-- ./usr/lib/systemd/system/kqos-once.timer
-rw-r--r-- ./usr/lib/systemd/system/kqos.service
-rw-r--r-- ./usr/share/bash-completion/completions/kqos
-rw-r--r-- ./usr/share/doc/kqos/THIRD-PARTY-LICENSES.gz
-rw-r--r-- ./usr/share/doc/kqos/changelog.Debian.gz
-rw-r--r-- ./usr/share/doc/kqos/copyright
-rw-r--r-- ./usr/share/doc/kqos/examples/kqos.cron
-rw-r--r-- ./usr/share/fish/vendor_completions.d/kqos.fish
-rw-r--r-- ./usr/share/man/man1/kqos.1.gz
Lrwxrwxrwx ./usr/share/man/man1/kubectl-kqos.1.gz -> kqos.1.gz
-rw-r--r-- ./usr/share/zsh/vendor-completions/_kqos
`
		sums := map[string]string{}
		for line := range strings.Lines(string(control["./md5sums"].data)) {
			words := strings.Fields(line)
			sums["./"+strings.TrimPrefix(words[1], "./")] = words[0]
		}
		folders := []string{}
		for name, e := range data {
			switch {
			case e.mode.IsDir():
				folders = append(folders, name)
				delete(data, name)
			case e.mode.IsRegular():
				if got := fmt.Sprintf("%x", md5.Sum(e.data)); got != sums[name] {
					t.Errorf("%s has %s, md5sums says %s", name, got, sums[name])
				}
			}
		}
		if diff := cmp.Diff(want, modes(data)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if !slices.Contains(folders, "./etc/kqos/pods/") {
			t.Error("there is no folder for pods")
		}
		if !bytes.Equal(data["./usr/bin/kqos"].data, program(t, "linux", arch)) {
			t.Error("/usr/bin/kqos is not the binary")
		}
		if diff := cmp.Diff("/etc/kqos/kubelet.yaml\n", string(control["./conffiles"].data)); diff != "" {
			t.Errorf("conffiles (-want +got):\n%s", diff)
		}
		fields := string(control["./control"].data)
		for _, line := range []string{
			"Package: kqos", "Version: 1.2.3~rc.1", "Architecture: " + arch, "Maintainer: " + maintainer, "Description: " + summary,
		} {
			if !strings.Contains(fields, line+"\n") {
				t.Errorf("no %q in\n%s", line, fields)
			}
		}
		for _, script := range []string{"postinst", "prerm", "postrm"} {
			if e := control["./"+script]; e.mode != 0o755 || !bytes.HasPrefix(e.data, []byte("#!/bin/sh\n")) {
				t.Errorf("%s has mode %v and says %q", script, e.mode, e.data)
			}
		}
		runsInstalled(t, data)
	}
}

// runsInstalled holds what starts kqos to the place where the package has it.
func runsInstalled(t *testing.T, data map[string]entry) {
	t.Helper()
	units := 0
	for name, e := range data {
		if bytes.Contains(e.data, []byte("/usr/local/bin/kqos")) {
			t.Errorf("%s runs a binary outside of the package", name)
		}
		if bytes.Contains(e.data, []byte("\nExecStart=/usr/bin/kqos apply /etc/kqos/pods --config /etc/kqos/kubelet.yaml ")) {
			units++
		}
	}
	if units != 2 {
		t.Errorf("%d units run the package's binary, not 2", units)
	}
}

func TestRPM(t *testing.T) {
	for goarch, arch := range map[string]string{"amd64": "x86_64", "arm64": "aarch64"} {
		rpm, err := rpmutils.ReadRpm(bytes.NewReader(file(t, "kqos-1.2.3~rc.1-1."+arch+".rpm")))
		if err != nil {
			t.Fatal(err)
		}
		nevra, err := rpm.Header.GetNEVRA()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&rpmutils.NEVRA{Name: "kqos", Epoch: "0", Version: "1.2.3~rc.1", Release: "1", Arch: arch}, nevra); diff != "" {
			t.Errorf("name and version (-want +got):\n%s", diff)
		}
		for tag, want := range map[int]string{
			rpmutils.SUMMARY: summary, rpmutils.LICENSE: "Apache-2.0", rpmutils.URL: homepage, rpmutils.BUILDHOST: "kqos",
		} {
			if got, err := rpm.Header.GetString(tag); got != want || err != nil {
				t.Errorf("tag %d is %q (%v), not %q", tag, got, err, want)
			}
		}
		built, err := rpm.Header.GetInt(rpmutils.BUILDTIME)
		if err != nil || int64(built) != made.made.Unix() {
			t.Errorf("built at %d (%v), not %d", built, err, made.made.Unix())
		}
		inRPM(t, rpm, program(t, "linux", goarch))
	}
}

// inRPM reads all of the payload.
func inRPM(t *testing.T, rpm *rpmutils.Rpm, program []byte) {
	t.Helper()
	payload, err := rpm.PayloadReaderExtended()
	if err != nil {
		t.Fatal(err)
	}
	data, flags := map[string]entry{}, map[string]int{}
	for {
		f, err := payload.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		e := entry{mode: fs.FileMode(f.Mode() & 0o777), link: f.Linkname()}
		if !payload.IsLink() {
			if e.data, err = io.ReadAll(payload); err != nil {
				t.Fatal(err)
			}
		}
		if f.UserName() != "root" || f.GroupName() != "root" || int64(f.Mtime()) != made.made.Unix() {
			t.Errorf("%s is of %d and belongs to %s:%s", f.Name(), f.Mtime(), f.UserName(), f.GroupName())
		}
		data[f.Name()], flags[f.Name()] = e, f.Flags()
	}
	const want = `-rwxr-xr-x /etc/kqos
-rw-r--r-- /etc/kqos/kubelet.yaml
-rwxr-xr-x /etc/kqos/pods
-rwxr-xr-x /usr/bin/kqos
---------- /usr/bin/kubectl-kqos -> kqos
-rwxr-xr-x /usr/bin/kubectl_complete-kqos
-rw-r--r-- /usr/lib/systemd/system/kqos-once.service
-rw-r--r-- /usr/lib/systemd/system/kqos-once.timer
-rw-r--r-- /usr/lib/systemd/system/kqos.service
-rw-r--r-- /usr/share/bash-completion/completions/kqos
-rwxr-xr-x /usr/share/doc/kqos
-rwxr-xr-x /usr/share/doc/kqos/examples
-rw-r--r-- /usr/share/doc/kqos/examples/kqos.cron
-rw-r--r-- /usr/share/fish/vendor_completions.d/kqos.fish
-rwxr-xr-x /usr/share/licenses/kqos
-rw-r--r-- /usr/share/licenses/kqos/LICENSE
-rw-r--r-- /usr/share/licenses/kqos/THIRD-PARTY-LICENSES
-rw-r--r-- /usr/share/man/man1/kqos.1.gz
---------- /usr/share/man/man1/kubectl-kqos.1.gz -> kqos.1.gz
-rw-r--r-- /usr/share/zsh/site-functions/_kqos
`
	if diff := cmp.Diff(want, modes(data)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if !bytes.Equal(data["/usr/bin/kqos"].data, program) {
		t.Error("/usr/bin/kqos is not the binary")
	}
	maps.DeleteFunc(flags, func(_ string, f int) bool { return f == 0 })
	const license = 1 << 7 // RPMFILE_LICENSE, which go-rpmutils does not name
	if diff := cmp.Diff(map[string]int{
		"/etc/kqos/kubelet.yaml":          rpmutils.RPMFILE_CONFIG | rpmutils.RPMFILE_NOREPLACE,
		licenses + "LICENSE":              license,
		licenses + "THIRD-PARTY-LICENSES": license,
	}, flags); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
	runsInstalled(t, data)
}
