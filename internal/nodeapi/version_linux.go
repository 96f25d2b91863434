package nodeapi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// versionTime is ample for a program that prints a line, though a busy node may
// have to read 100 MB of it first.
const versionTime = 30 * time.Second

// Version asks the kubelet's executable for its version, such as
// "Kubernetes v1.37.2" or "k3s version v1.37.2+k3s1". Any process may call itself
// a kubelet, and a captured host may hold any file: the executable is run only
// where /proc is the kernel's, and root runs it outside of containers. Elsewhere
// the error is [ErrNotAsked].
func (k *Kubelet) Version(ctx context.Context, root string) (string, error) {
	proc := filepath.Join(root, "proc")
	dir := filepath.Join(proc, strconv.Itoa(k.PID))
	if err := trusted(proc, dir); err != nil {
		return "", fmt.Errorf("process %d: %w: %w", k.PID, ErrNotAsked, err)
	}
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "exe"), "--version").Output()
	if err != nil {
		return "", fmt.Errorf("asking process %d for its version: %w", k.PID, err)
	}
	// k3s tells its Go's version on a second line.
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line, nil
}

// trusted tells whether what the process runs is the host's own.
func trusted(proc, dir string) error {
	var kernel unix.Statfs_t
	if err := unix.Statfs(proc, &kernel); err != nil {
		return err
	}
	if kernel.Type != unix.PROC_SUPER_MAGIC {
		return errors.New("this /proc is a copy")
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != 0 {
		return errors.New("root does not run it")
	}
	host, err := os.Readlink(filepath.Join(proc, "1/ns/mnt"))
	if err != nil {
		return err
	}
	own, err := os.Readlink(filepath.Join(dir, "ns/mnt"))
	if err == nil && own != host {
		err = errors.New("it runs in a container")
	}
	return err
}
