package inspect

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kqos/kqos/internal/cgroups"
)

// Find tells which cgroups a word names: a cgroup's path, the PID of a process
// below root, the id of a container or the beginning of one, a pod's UID, its
// name, or namespace/name.
func (h *Hierarchy) Find(root, word string, owners *Owners) ([]string, error) {
	if p := path.Clean("/" + word); h.Exists(p) {
		return []string{p}, nil
	}
	if pid, err := strconv.Atoi(word); err == nil && len(word) < shortID {
		p, err := h.ofProcess(root, pid)
		if err != nil {
			return nil, err
		}
		return []string{p}, nil
	}
	var found []string
	for _, p := range h.Walk("/") {
		id := Identify(p)
		// Only the outermost: what lies below is shown with it.
		if id.Level != "" && id == Identify(parent(p)) {
			continue
		}
		if id.names(word, owners) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%q: the node has no such cgroup, process, container or pod; 'kqos inspect -o name' lists what there is", word)
	}
	return found, nil
}

// shortID is the least of a container's id that is taken for one, as docker and
// crictl print it. No PID has as many digits.
const shortID = 12

func (id Identity) names(word string, owners *Owners) bool {
	switch id.Level {
	case cgroups.LevelContainer:
		return len(word) >= shortID && strings.HasPrefix(id.ContainerID, word)
	case cgroups.LevelPod:
		ref := owners.Pod(id.PodUID)
		return slices.Contains([]string{ref.UID, ref.Name, ref.Namespace + "/" + ref.Name}, word)
	}
	return false
}

// ofProcess reads /proc/PID/cgroup. On v1 the memory controller's line decides,
// else that of any controller that is read.
func (h *Hierarchy) ofProcess(root string, pid int) (string, error) {
	file := filepath.Join(root, "proc", strconv.Itoa(pid), "cgroup")
	text, err := readFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return h.listing(pid)
	}
	if err != nil {
		return "", fmt.Errorf("looking for the cgroup of process %d: %w", pid, err)
	}
	lines := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if parts := strings.SplitN(strings.TrimSpace(line), ":", 3); len(parts) == 3 {
			for controller := range strings.SplitSeq(parts[1], ",") {
				lines[controller] = path.Clean("/" + parts[2])
			}
		}
	}
	order := slices.Concat([]string{"memory"}, cgroups.Hierarchies())
	if h.version == 2 {
		order = []string{""}
	}
	for _, controller := range order {
		if p, ok := lines[controller]; ok && h.Exists(p) {
			return p, nil
		}
	}
	return "", fmt.Errorf("looking for the cgroup of process %d: none that %s names lies below the cgroup mount seen here", pid, file)
}

// listing finds the cgroup that lists a process: all that an archive tells of one.
func (h *Hierarchy) listing(pid int) (string, error) {
	for _, p := range h.Walk("/") {
		// What can't be read is told where it is shown.
		if pids, _ := h.PIDs(p); slices.Contains(pids, pid) {
			return p, nil
		}
	}
	return "", fmt.Errorf("looking for the cgroup of process %d: it is not in /proc, and no cgroup lists it, which is all that an archive tells of processes; "+
		"name a cgroup's path, a container's id or a pod", pid)
}

// PodRoots lists the cgroups that hold pods, under either driver and below any
// cgroupRoot: the outermost that bear kubepods in their name.
func (h *Hierarchy) PodRoots() []string {
	var roots []string
	// cgroupRoot is seldom deep; the pods' own cgroups are not searched.
	var search func(p string, depth int)
	search = func(p string, depth int) {
		for _, child := range h.Children(p) {
			switch {
			case Identify(child).Level != "":
				roots = append(roots, child)
			case depth > 0:
				search(child, depth-1)
			}
		}
	}
	search("/", 2)
	return roots
}
