package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	oc "github.com/opencontainers/cgroups"
)

// Self lists the cgroups that this process lives in, by path below the mounts,
// each once. It fails when one of them can't be found.
//
// What /proc/self/cgroup says counts from the root of the process's cgroup
// namespace, "/" in a container, while the mount may show the whole host. So it
// is believed only where the cgroup of that path lists the process, which is
// searched for elsewhere.
func (d *Driver) Self() ([]string, error) {
	told, err := oc.ParseCgroupFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("reading the cgroups of this process: %w", err)
	}
	var all []string
	for name, mount := range d.mounts {
		at, err := findProcess(mount, told[name], os.Getpid())
		if err != nil {
			return nil, err
		}
		all = append(all, at)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// findProcess gives the path below a hierarchy's mount of the cgroup that a
// process lives in, which is likely the one told.
func findProcess(mount, told string, pid int) (string, error) {
	if path.IsAbs(told) && path.Clean(told) == told && lists(mount+told, pid) {
		return told, nil
	}
	found := ""
	err := filepath.WalkDir(mount+"/", func(folder string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, os.ErrNotExist): // gone since it was listed
			return nil
		case err != nil || !entry.IsDir():
			return err
		case lists(folder, pid):
			found = path.Clean("/" + folder[len(mount):])
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("looking for the cgroup of this process: %w", err)
	}
	if found == "" {
		return "", fmt.Errorf("process %d, kqos itself, is in none of the cgroups below %s, so its own limits can't be told from others: run it with the host's cgroups mounted there and in the host's cgroup namespace", pid, mount)
	}
	return found, nil
}

// lists says whether a cgroup lists a process. A threaded one lists none.
func lists(folder string, pid int) bool {
	pids, err := oc.GetPids(folder)
	return err == nil && slices.Contains(pids, pid)
}
