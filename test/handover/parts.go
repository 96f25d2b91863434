//go:build handover

package handover

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The kubelet's version stands in kubelet/go.mod too.
const (
	containerdModule = "github.com/containerd/containerd/v2"
	containerd       = "v2.4.2"
	kubelet          = "v1.37.2"
	runc             = "v1.5.3"
)

// part is a program of the node that is built once and kept.
type part struct {
	name string
	// The module it is built in, a folder; without one it is installed as
	// package@version.
	module, pkg string
	cgo         bool
	flags       []string
}

// parts are the kubelet, containerd and runc. runc is the one with C in it: it
// filters system calls with libseccomp, and the kubelet asks for a filter for
// every pod.
func parts() []part {
	small := []string{"-trimpath", "-ldflags=-s -w"}
	// Kubernetes' own build tells the kubelet its version so, and kqos asks it.
	versioned := []string{"-trimpath", "-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=" + kubelet}
	lean := append([]string{"-tags=no_btrfs no_zfs no_devmapper"}, small...)
	at := func(command string) string { return containerdModule + "/cmd/" + command + "@" + containerd }
	return []part{
		{name: "kubelet", module: "kubelet", pkg: "k8s.io/kubernetes/cmd/kubelet", flags: versioned},
		{name: "containerd", pkg: at("containerd"), flags: lean},
		{name: "containerd-shim-runc-v2", pkg: at("containerd-shim-runc-v2"), flags: lean},
		{name: "ctr", pkg: at("ctr"), flags: lean},
		{
			name: "runc", pkg: "github.com/opencontainers/runc@" + runc, cgo: true,
			flags: []string{"-trimpath", "-tags=netgo osusergo seccomp", "-ldflags=-s -w -linkmode external -extldflags -static"},
		},
	}
}

// key changes with whatever decides on the program, but for the Go toolchain.
func (p part) key() (string, error) {
	text := fmt.Sprintf("%+v", p)
	if p.module != "" {
		mod, err := os.ReadFile(filepath.Join(p.module, "go.mod"))
		if err != nil {
			return "", err
		}
		text += string(mod)
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6]), nil
}

// build returns the program, made below the cache folder or found there.
func (p part) build(ctx context.Context, cache string) (string, error) {
	key, err := p.key()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, key)
	program := filepath.Join(folder, p.name)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	args := append([]string{"install"}, p.flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, p.pkg)...)
	cmd.Dir = p.module
	cgo := "CGO_ENABLED=0"
	if p.cgo {
		cgo = "CGO_ENABLED=1"
	}
	cmd.Env = append(os.Environ(), "GOBIN="+folder, "GOFLAGS=", cgo)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w: %s", p.name, err, out)
	}
	return program, nil
}
