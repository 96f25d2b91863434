package cgroups

import (
	"fmt"
	"strings"
)

// folder is the path of a name. It refuses what would lie outside the cgroup
// mount, and names that the kernel takes for no folder.
//
// kernel: kernel/cgroup/cgroup.c cgroup_mkdir refuses a newline.
func folder(name Name, driver string) (string, error) {
	path, err := name.Path(driver)
	if err != nil {
		return "", err
	}
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case part == "..":
			return "", fmt.Errorf(`cgroup %q: ".." would leave the cgroup mount`, path)
		case strings.ContainsAny(part, "\n\x00"):
			return "", fmt.Errorf("cgroup %q: a newline or zero byte can't be in a name", path)
		case len(part) > maxFolderName:
			return "", fmt.Errorf("cgroup %.40q…: a name of %d bytes is longer than the kernel's %d", path, len(part), maxFolderName)
		}
	}
	return path, nil
}

// maxFolderName is the kernel's NAME_MAX.
const maxFolderName = 255

// comparePaths puts a folder before what lies in it and that before its
// sibling: the slash comes before every other byte.
func comparePaths(a, b string) int {
	for i := range min(len(a), len(b)) {
		switch {
		case a[i] == b[i]:
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		default:
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}
