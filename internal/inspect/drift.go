package inspect

import (
	"maps"

	"github.com/kqos/kqos/internal/cgroups"
)

// Drift is one difference between what a cgroup should be and what it is.
type Drift struct {
	// File is the control file; empty where the cgroup itself is not there.
	File string `json:"file"`
	// Want is what the kubelet, or the runtime for it, writes, and Have what the
	// file reads.
	Want string `json:"want"`
	Have string `json:"have"`
	// Why is the rule behind Want, and Writer who probably wrote Have.
	Why    string `json:"why"`
	Writer string `json:"writer"`
	// Unverified says that Want is of another version's rules than the kubelet's.
	Unverified bool `json:"unverified,omitempty"`
}

// drift compares a live cgroup with what is wanted of it. The weight of a
// container is right by either conversion; writers tells which it was. What is
// wanted and not among files yet is read and added to them.
func (i *Inspection) drift(want *cgroups.Cgroup, path string, files map[string]string) (found []Drift, writers map[string]string) {
	live := cgroups.Live{Exists: true, Files: maps.Clone(files), PageSize: i.Hierarchy.memoryPage}
	for file := range want.Files {
		if _, read := live.Files[file]; read {
			continue
		}
		if text, err := i.Hierarchy.Read(path, file); err == nil {
			live.Files[file], files[file] = text, text
		}
	}
	if by := weightWriter(want.CPUShares, live.Files[weightFile]); by != "" && want.Level == cgroups.LevelContainer {
		writers = map[string]string{weightFile: by}
	}
	for _, c := range cgroups.DiffCgroup(want, live) {
		found = append(found, Drift{File: c.File, Want: c.To, Have: c.From, Why: c.Why, Writer: i.writer(want, path, c.File, c.From)})
	}
	return found, writers
}

// missing is the difference of a wanted cgroup that is not there at all.
func missing(want *cgroups.Cgroup, unverified bool) Drift {
	why := "the kubelet makes it at its start"
	switch want.Level {
	case cgroups.LevelPod:
		why = "the kubelet makes it before the pod's first container"
	case cgroups.LevelReserved:
		why = "enforceNodeAllocatable names it; the kubelet never makes it and does not start without it"
	}
	return Drift{Want: "the cgroup", Have: "none", Why: why, Writer: "unknown: never made, or removed", Unverified: unverified}
}
