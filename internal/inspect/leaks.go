package inspect

import (
	"fmt"
	"slices"

	"github.com/kqos/kqos/internal/cgroups"
)

// Leak is a cgroup of a pod that nobody knows any more.
type Leak struct {
	Path string
	// Why says what keeps it.
	Why string
	// PIDs are the processes in it and below it.
	PIDs []int
}

// Leaks lists the pod cgroups below root whose UID has no owner. Without any
// known pod there is nothing to hold them against, and the list is empty.
func (h *Hierarchy) Leaks(root string, owners *Owners) ([]Leak, error) {
	if !owners.Any() {
		return nil, nil
	}
	var leaks []Leak
	for _, path := range h.Walk(root) {
		id := Identify(path)
		if id.Level != cgroups.LevelPod || owners.Known(id.PodUID) || Identify(parent(path)).Level == cgroups.LevelPod {
			continue
		}
		leak := Leak{Path: path}
		below := h.Walk(path)
		for _, p := range below {
			pids, err := h.PIDs(p)
			if err != nil {
				return nil, err
			}
			leak.PIDs = append(leak.PIDs, pids...)
		}
		slices.Sort(leak.PIDs)
		leak.PIDs = slices.Compact(leak.PIDs)
		switch {
		case len(leak.PIDs) > 0:
			leak.Why = fmt.Sprintf("%d processes still run in it", len(leak.PIDs))
		case len(below) > 1:
			leak.Why = fmt.Sprintf("%d empty cgroups are left below it", len(below)-1)
		default:
			leak.Why = "it is empty: nobody removed it"
		}
		leaks = append(leaks, leak)
	}
	return leaks, nil
}
