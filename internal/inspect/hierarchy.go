// Package inspect reads what a node's cgroups are and do: the live tree with
// usage, whose each cgroup is, where it differs from what it should be, what
// leaked, and who may run on CPUs that belong to a container alone.
//
//	h, err := inspect.Open("/")
//	for _, path := range h.Walk("/kubepods.slice") {
//		fmt.Println(path, h.Usage(path).Memory)
//	}
package inspect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/kqos/kqos/internal/quantity"
)

// Hierarchy reads the cgroups below a root, be it live or captured. It never
// writes, and serves one goroutine.
type Hierarchy struct {
	version int
	// mounts holds the folder of each v1 controller, or that of v2 under "".
	mounts map[string]string
	// roots are the mounts, each once.
	roots []string
	// opened are the folders that the last reads left open, by mount.
	opened map[string]folder
	// kept are files that stay open between looks; nil unless Keep was called.
	kept *keptFiles
	// kernels says that a kernel keeps the v2 hierarchy, so that what a cgroup's
	// parent tells of it need not be read. A copy is shown as it is.
	kernels bool
	// unclosed are files that were read and not closed yet.
	unclosed []int
	buffer   [pageSize]byte
	// pageSizes are the huge page sizes as files name them, such as 2MB.
	pageSizes []string
	// memoryPage is the page size of this host's memory in bytes; 0 for the tree of
	// another.
	memoryPage uint64
	// unreadable counts the files that are there and could not be read, and
	// firstUnreadable is the first reason.
	unreadable      int
	firstUnreadable error
}

// Open finds the hierarchies below root's sys/fs/cgroup: the unified one, else
// every one of v1 that is mounted (also on hybrid hosts), those without a
// controller, such as systemd's own, and those that the kubelet does not know
// too.
func Open(root string) (*Hierarchy, error) {
	mount := filepath.Join(root, "sys/fs/cgroup")
	var page uint64
	if mount == "/sys/fs/cgroup" {
		page = uint64(os.Getpagesize())
	}
	if _, err := os.Stat(filepath.Join(mount, "cgroup.controllers")); err == nil {
		return &Hierarchy{
			version: 2, mounts: map[string]string{"": mount}, roots: []string{mount}, opened: map[string]folder{}, memoryPage: page, kernels: kernels(mount),
		}, nil
	}
	entries, err := os.ReadDir(mount)
	if err != nil {
		return nil, fmt.Errorf("looking for cgroups: %w", err)
	}
	h := &Hierarchy{version: 1, mounts: map[string]string{}, opened: map[string]folder{}, memoryPage: page}
	for _, e := range entries {
		if !e.IsDir() || e.Name() == "unified" {
			continue // links such as cpu -> cpu,cpuacct, and what hybrid hosts have of v2
		}
		h.roots = append(h.roots, filepath.Join(mount, e.Name()))
		for controller := range strings.SplitSeq(e.Name(), ",") {
			h.mounts[controller] = filepath.Join(mount, e.Name())
		}
	}
	if len(h.mounts) == 0 {
		return nil, fmt.Errorf("looking for cgroups: none below %s", mount)
	}
	return h, nil
}

// Version is 1 or 2.
func (h *Hierarchy) Version() int { return h.version }

// Read gives a control file without its final newline. Keys are as everywhere:
// "cpu.max" on v2, "cpu/cpu.shares" on v1. The error is os.ErrNotExist where the
// cgroup, its controller or the file is not there.
func (h *Hierarchy) Read(path, key string) (string, error) {
	mount, file, err := h.place(path, key)
	if err != nil {
		return "", err
	}
	text, err := h.control(mount, path, file)
	if err != nil {
		err = fmt.Errorf("reading %s of cgroup %s: %w", key, path, err)
		h.note(err)
		return "", err
	}
	return text, nil
}

// place finds the hierarchy that has the file of a key.
func (h *Hierarchy) place(path, key string) (mount, file string, err error) {
	controller, file, ok := strings.Cut(key, "/")
	if !ok {
		controller, file = "", key
	}
	mount, ok = h.mounts[controller]
	if !ok {
		return "", "", fmt.Errorf("reading %s of cgroup %s: %w", key, path, os.ErrNotExist)
	}
	return mount, file, nil
}

// note keeps what a person should hear of an error: that a file is not offered,
// or that its cgroup went away while it was read, is nothing wrong.
func (h *Hierarchy) note(err error) {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENODEV) || errors.Is(err, syscall.EOPNOTSUPP) {
		return
	}
	if h.unreadable++; h.firstUnreadable == nil {
		h.firstUnreadable = err
	}
}

// Unreadable sums up the files that are there and could not be read; nil where
// all could.
func (h *Hierarchy) Unreadable() error {
	if h.unreadable == 0 {
		return nil
	}
	return fmt.Errorf("reading %s failed, the first: %w", quantity.Count(h.unreadable, "file"), h.firstUnreadable)
}

// Children lists the paths of the cgroups right below path in any hierarchy.
func (h *Hierarchy) Children(path string) []string {
	var paths []string
	for _, mount := range h.roots {
		var info unix.Stat_t
		if unix.Lstat(mount+path, &info) == nil && info.Nlink == 2 {
			continue // only a folder inside would have a third link to it
		}
		entries, err := os.ReadDir(filepath.Join(mount, path))
		if err != nil {
			continue // it lives in another hierarchy, or vanished while read
		}
		for _, e := range entries {
			if e.IsDir() {
				paths = append(paths, filepath.Join(path, e.Name()))
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Walk lists path and all below it, parents before children, siblings by name.
// It is empty when path does not exist.
func (h *Hierarchy) Walk(path string) []string {
	if !h.Exists(path) {
		return nil
	}
	return h.walk([]string{path}, path)
}

func (h *Hierarchy) walk(all []string, path string) []string {
	for _, child := range h.Children(path) {
		all = h.walk(append(all, child), child)
	}
	return all
}

// Exists tells whether any hierarchy has the cgroup.
func (h *Hierarchy) Exists(path string) bool {
	return slices.ContainsFunc(h.roots, func(mount string) bool {
		info, err := os.Lstat(filepath.Join(mount, path))
		return err == nil && info.IsDir()
	})
}

// PIDs lists the processes in the cgroup itself.
func (h *Hierarchy) PIDs(path string) ([]int, error) {
	var pids []int
	var failed []error
	for _, mount := range h.roots {
		text, err := readFile(filepath.Join(mount, path, "cgroup.procs"))
		switch {
		case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENODEV):
			continue
		case err != nil:
			failed = append(failed, fmt.Errorf("reading the processes of cgroup %s: %w", path, err))
			continue
		}
		pids = append(pids, numbers(string(text))...)
	}
	slices.Sort(pids)
	return slices.Compact(pids), errors.Join(failed...)
}

// links counts the links to a cgroup's folder in all hierarchies: the kernel
// counts one for each folder inside.
func (h *Hierarchy) links(path string) uint64 {
	sum := uint64(0)
	for _, mount := range h.roots {
		var info unix.Stat_t
		if unix.Lstat(mount+path, &info) == nil {
			sum += uint64(info.Nlink) //nolint:unconvert // Nlink is narrower on arm64
		}
	}
	return sum
}

func parent(path string) string { return filepath.Dir(path) }
