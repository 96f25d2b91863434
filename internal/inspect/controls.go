package inspect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kqos/kqos/internal/cgroups"
)

// controlFiles are those that the kubelet, or the runtime for it, may set, and
// what the kernel makes of a cpuset in the end. Further ones are read where they
// are wanted.
func controlFiles(version int) []string {
	if version == 2 {
		return []string{
			"cpu.weight", "cpu.max", "cpuset.cpus", "cpuset.cpus.effective", "cpuset.mems", "cpuset.mems.effective",
			"memory.min", "memory.low", "memory.high", "memory.max", "memory.swap.max", "pids.max",
		}
	}
	return []string{
		"cpu/cpu.shares", "cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us", "cpuset/cpuset.cpus", "cpuset/cpuset.effective_cpus",
		"cpuset/cpuset.mems", "cpuset/cpuset.effective_mems", "memory/memory.limit_in_bytes", "memory/memory.memsw.limit_in_bytes",
		"pids/pids.max",
	}
}

// untouched is what a control file reads that nobody wrote.
func untouched(file, value string) bool {
	_, name := cgroups.SplitFile(file)
	defaults := map[string]string{
		"cpu.weight": "100", "cpu.max": "max 100000", "memory.min": "0", "memory.low": "0", "memory.high": "max", "memory.max": "max",
		"memory.swap.max": "max", "memory.oom.group": "0", "pids.max": "max", "cpuset.cpus": "", "cpuset.mems": "",
		"cpu.shares": "1024", "cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000",
	}
	if text, ok := defaults[name]; ok {
		return value == text
	}
	return strings.HasSuffix(name, "limit_in_bytes") && cgroups.Equal(file, "-1", value) ||
		strings.HasPrefix(name, "hugetlb.") && cgroups.Equal(file, "max", value)
}

// learnPageSizes finds the huge page sizes that a cgroup's folder names, such
// as 2MB. All cgroups but the root have the same.
func (h *Hierarchy) learnPageSizes(paths []string) {
	n := slices.IndexFunc(paths, func(path string) bool { return path != "/" })
	if n < 0 {
		return
	}
	path := paths[n]
	suffix := ".limit_in_bytes"
	mount := h.mounts["hugetlb"]
	if h.version == 2 {
		suffix, mount = ".max", h.mounts[""]
	}
	if mount == "" {
		return
	}
	for _, name := range entries(filepath.Join(mount, path)) {
		size, ok := strings.CutPrefix(name, "hugetlb.")
		if size, limit := strings.CutSuffix(size, suffix); ok && limit && !strings.Contains(size, ".") {
			h.pageSizes = append(h.pageSizes, size)
		}
	}
	slices.Sort(h.pageSizes)
	h.pageSizes = slices.Compact(h.pageSizes)
}

// files reads those control files that the cgroup has. Above are those of its
// parent, nil where they are not known: a v2 cgroup whose cpuset is empty has
// its parent's.
//
// kernel: Documentation/admin-guide/cgroup-v2.rst, cpuset.cpus.effective
func (h *Hierarchy) files(path string, above map[string]string) map[string]string {
	files := controlFiles(h.version)
	values := make(map[string]string, len(files)+len(h.pageSizes))
	for _, file := range files {
		if own, effective := strings.CutSuffix(file, ".effective"); effective && above != nil {
			set, there := values[own]
			inherited, known := above[file]
			switch {
			case !there:
				continue // without the controller there is neither
			case set == "" && known:
				values[file] = inherited
				continue
			}
		}
		if text, err := h.Read(path, file); err == nil {
			values[file] = text
		}
	}
	for _, size := range h.pageSizes {
		file := h.hugePageLimit(size)
		if text, err := h.Read(path, file); err == nil {
			values[file] = text
		}
	}
	return values
}

// removed are the v1 hierarchies from which kubelet and runtime remove a cgroup.
//
// opencontainers/cgroups v0.1.0: fs/fs.go subsystems.
func removed() []string {
	return append(cgroups.Hierarchies(), "devices", "blkio", "net_cls", "net_prio", "perf_event", "freezer", "rdma", "misc")
}

// standing says in which hierarchies a cgroup stands, where it is not all of the
// kubelet's: only v1 has more than one.
func (h *Hierarchy) standing(path string) string {
	var in, gone, foreign []string
	for controller, mount := range h.mounts {
		_, err := os.Lstat(mount + path)
		switch {
		case err == nil && slices.Contains(removed(), controller):
			in = append(in, controller)
		case err == nil && h.version == 1:
			foreign = append(foreign, controller)
		case slices.Contains(cgroups.Hierarchies(), controller):
			gone = append(gone, controller)
		}
	}
	slices.Sort(in)
	slices.Sort(foreign)
	switch {
	case len(in) == 0 && len(foreign) > 0:
		return "it stands only in hierarchies that kubelet and runtime do not know: " + strings.Join(foreign, ", ")
	case len(gone) > 0:
		return "it stands only in the hierarchies " + strings.Join(in, ", ")
	}
	return ""
}

// hugePageLimit is the control file that limits huge pages of a size.
func (h *Hierarchy) hugePageLimit(size string) string {
	if h.version == 1 {
		return "hugetlb/hugetlb." + size + ".limit_in_bytes"
	}
	return "hugetlb." + size + ".max"
}
