package cgroups

import "strings"

// UseFile names the control file that tells how much is in use of what the
// limit in file restricts, keyed as Cgroup.Files is. It returns "" for files
// that limit no amount, such as weights.
func UseFile(file string) string {
	folder, name := "", file
	if i := strings.LastIndexByte(file, '/'); i >= 0 {
		folder, name = file[:i+1], file[i+1:]
	}
	switch {
	case name == "memory.max", name == "pids.max", name == "memory.swap.max":
		return folder + strings.TrimSuffix(name, "max") + "current"
	case strings.HasPrefix(name, "hugetlb.") && strings.HasSuffix(name, ".max"):
		return folder + strings.TrimSuffix(name, "max") + "current"
	case strings.HasSuffix(name, "limit_in_bytes"):
		return folder + strings.TrimSuffix(name, "limit_in_bytes") + "usage_in_bytes"
	}
	return ""
}

// SplitFile names the controller of a key of Cgroup.Files and the file's own
// name: v1 keys are controller/file, v2 files carry theirs before the dot.
func SplitFile(key string) (controller, file string) {
	if c, f, ok := strings.Cut(key, "/"); ok {
		return c, f
	}
	c, _, _ := strings.Cut(key, ".")
	return c, key
}
