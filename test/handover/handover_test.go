//go:build handover

package handover

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kqos/kqos/internal/cgroups/driver"
	"github.com/kqos/kqos/test/e2e/vm"
)

// node is one boot: a machine, a kubelet with its drop-ins, and who comes first.
type node struct {
	driver string
	// v1 boots with the controllers of cgroup v1.
	v1 bool
	// kqosFirst lets kqos make the tree before the kubelet starts.
	kqosFirst bool
	// static gives containers CPUs and memory of their own.
	static bool
}

func (n node) String() string {
	name := "v2-" + n.driver
	if n.v1 {
		name = "v1-" + n.driver
	}
	if n.static {
		name += "-static"
	}
	if n.kqosFirst {
		return name + "-kqos-first"
	}
	return name + "-kubelet-first"
}

// nodes begins with those that tell most.
func nodes() []node {
	return []node{
		{driver: driver.Systemd, static: true},
		{driver: driver.Systemd, kqosFirst: true},
		{driver: driver.Cgroupfs},
		{driver: driver.Cgroupfs, kqosFirst: true, static: true},
		{driver: driver.Systemd, v1: true},
		{driver: driver.Systemd, v1: true, kqosFirst: true},
		{driver: driver.Cgroupfs, v1: true},
		{driver: driver.Cgroupfs, v1: true, kqosFirst: true},
	}
}

// machine has two NUMA nodes with huge pages.
func (n node) machine() vm.Machine {
	m := vm.Machine{Sockets: 2, Cores: 2, Threads: 1, NUMA: 2, MemoryMiB: 4096, Kernel: "hugepages=0:32,1:32"}
	if n.v1 {
		m.Kernel += " " + vm.V1
	}
	return m
}

// script is what the machine runs.
func (n node) script() string {
	first, drops := "kubelet", ""
	if n.kqosFirst {
		first = "kqos"
	}
	if n.static {
		drops += " static.conf"
	}
	if n.v1 {
		drops += " v1.conf"
	}
	return fmt.Sprintf("export DRIVER=%s FIRST=%s CONFIG='%s'\nexec sh ./node.sh\n", n.driver, first, drops)
}

// TestHandover runs the nodes whose name contains KQOS_HANDOVER, all without
// it. KQOS_HANDOVER_OUT is a folder where what they recorded is kept; a node
// that is recorded there already is judged again without a run.
func TestHandover(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("building the guest's file system needs root")
	}
	kept := os.Getenv("KQOS_HANDOVER_OUT")
	prepared := prepare(t)
	named := 0
	for _, n := range nodes() {
		if !strings.Contains(n.String(), os.Getenv("KQOS_HANDOVER")) {
			continue
		}
		named++
		t.Run(n.String(), func(t *testing.T) {
			out := filepath.Join(kept, n.String())
			if kept == "" {
				out = t.TempDir()
			}
			if _, err := os.Stat(filepath.Join(out, "again.txt")); err != nil {
				prepared().run(t, n, out)
			}
			judge(t, n, out)
		})
	}
	if named == 0 {
		t.Fatalf("no node's name holds KQOS_HANDOVER=%q", os.Getenv("KQOS_HANDOVER"))
	}
}

// host is all that a machine is made of.
type host struct {
	image  vm.Image
	folder string
}

// prepare builds what the machines need, when the first one is run.
func prepare(t *testing.T) func() host {
	var h *host
	return func() host {
		if h == nil {
			h = &host{folder: t.TempDir()}
			h.build(t)
		}
		return *h
	}
}

func (h *host) build(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if h.image, err = vm.Build(ctx, filepath.Join(cache, "kqos-e2e")); err != nil {
		t.Fatal(err)
	}
	for _, p := range parts() {
		program, err := p.build(ctx, filepath.Join(cache, "kqos-handover"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Link(program, filepath.Join(h.folder, p.name)); err != nil {
			copyFile(t, program, filepath.Join(h.folder, p.name))
		}
	}
	pause := filepath.Join(t.TempDir(), "pause")
	for program, pkg := range map[string]string{
		filepath.Join(h.folder, "kqos"):  "../../cmd/kqos",
		filepath.Join(h.folder, "guest"): "./guest",
		pause:                            "./pause",
	} {
		build := exec.CommandContext(ctx, "go", "build", "-tags=handover", "-trimpath", "-ldflags=-s -w", "-o", program, pkg)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v: %s", pkg, err, out)
		}
	}
	if err := writeImage(pause, "localhost/pause:1", filepath.Join(h.folder, "pause.tar")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(h.folder, os.DirFS("node")); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o755); err != nil {
		t.Fatal(err)
	}
}

func (h host) run(t *testing.T, n node, out string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	script := n.String() + ".sh"
	if err := os.WriteFile(filepath.Join(h.folder, script), []byte(n.script()), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := vm.Run(ctx, h.image, n.machine(), h.folder, script, out, t.Output()); err != nil {
		t.Fatal(err)
	}
}
