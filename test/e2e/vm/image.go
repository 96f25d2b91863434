//go:build e2e

package vm

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The suite whose kernel still has the memory and cpuset controllers of
// cgroup v1 compiled in; later ones lack them.
const suite = "bookworm"

//go:embed agent.sh
var agent string

//go:embed agent.service
var agentUnit string

//go:embed masked-units.txt
var maskedUnits string

// What the guest has besides Debian's smallest system: cron, lstopo and rpm for
// the jobs that are about them.
const packages = "systemd-sysv,dbus,procps,cron,hwloc-nox,attr,rpm"

// Image is a root file system and a kernel to boot it with.
type Image struct {
	Root, Kernel string
	// Keep lets what a guest writes stay on Root for the next one.
	Keep bool
}

// Build makes the image, or takes it from the cache folder when the same parts
// made it before.
func Build(ctx context.Context, cache string) (Image, error) {
	sum := sha256.Sum256([]byte(suite + packages + agent + agentUnit + maskedUnits))
	dir := filepath.Join(cache, hex.EncodeToString(sum[:6]))
	img := Image{Root: filepath.Join(dir, "root.img"), Kernel: filepath.Join(dir, "vmlinux")}
	if _, err := os.Stat(dir); err == nil {
		return img, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return img, fmt.Errorf("making the image cache: %w", err)
	}
	work, err := os.MkdirTemp(cache, "partial-")
	if err != nil {
		return img, fmt.Errorf("making the image cache: %w", err)
	}
	defer os.RemoveAll(work)
	tree := filepath.Join(work, "tree")
	if err := rootTree(ctx, tree); err != nil {
		return img, err
	}
	made := filepath.Join(work, "made")
	if err := os.Mkdir(made, 0o755); err != nil {
		return img, err
	}
	if err := kernel(ctx, tree, filepath.Join(made, "vmlinux")); err != nil {
		return img, err
	}
	if err := mkfs(ctx, filepath.Join(made, "root.img"), tree, 1024); err != nil {
		return img, err
	}
	// Another may have made the same meanwhile.
	if err := os.Rename(made, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return img, err
	}
	return img, nil
}

// Copy makes an image of its own in a folder, which keeps what guests write.
func (img Image) Copy(ctx context.Context, folder string) (Image, error) {
	own := Image{Root: filepath.Join(folder, "root.img"), Kernel: img.Kernel, Keep: true}
	return own, command(ctx, "cp", "--sparse=always", img.Root, own.Root)
}

// rootTree makes the guest's file system. The kernel's package is unpacked below
// its /kernel, see kernel.
func rootTree(ctx context.Context, tree string) error {
	if err := command(ctx, "mmdebstrap", "--quiet", "--variant=minbase", "--include="+packages,
		"--aptopt=Acquire::Retries \"5\"", "--customize-hook="+downloadKernel,
		"--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*",
		"--dpkgopt=path-exclude=/usr/share/locale/*", suite, tree); err != nil {
		return err
	}
	// The guest has a devtmpfs; mke2fs can't take the device nodes of every host.
	if err := os.RemoveAll(filepath.Join(tree, "dev")); err != nil {
		return err
	}
	files := map[string]string{
		"usr/local/sbin/e2e-agent":          agent,
		"etc/systemd/system/e2e.service":    agentUnit,
		"etc/fstab":                         "",
		"etc/hostname":                      "testbed\n",
		"etc/machine-id":                    strings.Repeat("01", 16) + "\n",
		"dev/.keep":                         "",
		"etc/systemd/system.conf.d/50.conf": "[Manager]\nDefaultTimeoutStopSec=10s\n",
	}
	for name, text := range files {
		path := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			return err
		}
	}
	units := filepath.Join(tree, "etc/systemd/system")
	for unit := range strings.FieldsSeq(maskedUnits) {
		if err := replaceLink("/dev/null", filepath.Join(units, unit)); err != nil {
			return err
		}
	}
	wants := filepath.Join(units, "multi-user.target.wants")
	if err := os.MkdirAll(wants, 0o755); err != nil {
		return err
	}
	return replaceLink("../e2e.service", filepath.Join(wants, "e2e.service"))
}

func replaceLink(to, path string) error {
	_ = os.Remove(path)
	return os.Symlink(to, path)
}

func mkfs(ctx context.Context, image, from string, mib int) error {
	if err := os.RemoveAll(image); err != nil {
		return err
	}
	f, err := os.Create(image)
	if err != nil {
		return err
	}
	if err := f.Truncate(int64(mib) << 20); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return command(ctx, "mke2fs", "-q", "-F", "-t", "ext4", "-O", "^has_journal", "-m", "0",
		"-E", "lazy_itable_init=1,nodiscard", "-d", from, image)
}

func command(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("running %s: %w: %s", name, err, out)
	}
	return nil
}
