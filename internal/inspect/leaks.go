package inspect

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/quantity"
)

// Leak is a cgroup of a pod that nobody knows any more.
type Leak struct {
	Path string
	// Why says what keeps it.
	Why string
	// PIDs are the processes in it and below it.
	PIDs []int
}

// Leaks lists those of paths that are cgroups of a pod whose UID has no owner.
// Without any known pod there is nothing to hold them against, and the list is
// empty. root is where /proc names what still runs there.
func (h *Hierarchy) Leaks(root string, paths []string, owners *Owners) []Leak {
	if !owners.Any() {
		return nil
	}
	var leaks []Leak
	for _, path := range paths {
		id := Identify(path)
		if id.Level != cgroups.LevelPod || owners.Known(id.PodUID) || Identify(parent(path)).Level == cgroups.LevelPod {
			continue
		}
		leak := Leak{Path: path}
		below := h.Walk(path)
		for _, p := range below {
			pids, err := h.PIDs(p)
			if err != nil {
				h.note(err)
			}
			leak.PIDs = append(leak.PIDs, pids...)
		}
		slices.Sort(leak.PIDs)
		leak.PIDs = slices.Compact(leak.PIDs)
		leak.Why = h.holds(root, path, len(below)-1, leak.PIDs)
		leaks = append(leaks, leak)
	}
	return leaks
}

// namedHolders is how many processes are told by name: enough to know whose
// they are.
const namedHolders = 3

// holds says what keeps a leaked cgroup.
func (h *Hierarchy) holds(root, path string, below int, pids []int) string {
	why := "it is empty: nobody removed it"
	switch {
	case len(pids) > 0:
		var names []string
		for _, pid := range pids[:min(len(pids), namedHolders)] {
			if comm, err := readFile(filepath.Join(root, "proc", strconv.Itoa(pid), "comm")); err == nil {
				names = append(names, fmt.Sprintf("%d %s", pid, strings.TrimSpace(string(comm))))
			}
		}
		why = fmt.Sprintf("%d processes still run in it", len(pids))
		if len(pids) == 1 {
			why = "a process still runs in it"
		}
		if len(names) > 0 {
			why += ": " + strings.Join(names, ", ")
		}
	case below > 0:
		why = quantity.Count(below, "empty cgroup") + " left below it"
	}
	if text := h.standing(path); text != "" {
		why += "; " + text
	}
	return why
}
