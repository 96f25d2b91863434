package inspect

import (
	"maps"
	"path"
	"strconv"

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

// Who writes to the kubelet's cgroups.
const (
	// WriterRuntimeLinear and WriterRuntimeCurve tell by which conversion the
	// runtime made a cpu.weight of shares.
	WriterRuntimeLinear = "runtime: linear cpu.weight, as runc before 1.3.2"
	WriterRuntimeCurve  = "runtime: quadratic cpu.weight, as runc since 1.3.2"
	WriterSystemd       = "systemd: a daemon-reload sets back what is no property of the unit"
	WriterHand          = "by hand, or a program that is neither kubelet nor runtime"
	// WriterRuntimeDefault and WriterNobody stand for files that nobody wrote.
	WriterRuntimeDefault = "runtime: it left the kernel's default"
	WriterNobody         = "nobody: it reads the kernel's default, so the kubelet has not written it since the cgroup was made"
)

// weightWriter names the conversion by which a weight comes from the shares;
// empty where neither gives it.
func weightWriter(shares uint64, have string) string {
	weight, err := strconv.ParseUint(have, 10, 64)
	switch {
	case err != nil || shares == 0:
		return ""
	case weight == cgroups.SharesToWeightRuntime(shares):
		return WriterRuntimeCurve
	case weight == cgroups.SharesToWeight(shares):
		return WriterRuntimeLinear
	}
	return ""
}

// drift compares a live cgroup with what is wanted of it. The weight of a
// container is right by either conversion; writers tells which it was. What is
// wanted and not among files yet is read and added to them.
func (h *Hierarchy) drift(want *cgroups.Cgroup, path string, files map[string]string, driver string) (found []Drift, writers map[string]string) {
	live := cgroups.Live{Exists: true, Files: maps.Clone(files)}
	for file := range want.Files {
		if _, read := live.Files[file]; read {
			continue
		}
		if text, err := h.Read(path, file); err == nil {
			live.Files[file], files[file] = text, text
		}
	}
	if by := weightWriter(want.CPUShares, live.Files[weightFile]); by != "" && want.Level == cgroups.LevelContainer {
		writers = map[string]string{weightFile: by}
		delete(live.Files, weightFile)
	}
	for _, c := range cgroups.DiffCgroup(want, live) {
		found = append(found, Drift{File: c.File, Want: c.To, Have: c.From, Why: c.Why, Writer: writer(want, c.File, c.From, driver)})
	}
	return found, writers
}

const weightFile = "cpu.weight"

// writer guesses who wrote a value that is not as wanted.
func writer(want *cgroups.Cgroup, file, have, driver string) string {
	if path.Base(file) == weightFile && want.Level != cgroups.LevelContainer && weightWriter(want.CPUShares, have) == WriterRuntimeCurve {
		return WriterRuntimeCurve
	}
	controller, _ := cgroups.SplitFile(file)
	switch {
	case !untouched(file, have):
		return WriterHand
	case want.Level == cgroups.LevelContainer:
		return WriterRuntimeDefault
	case driver == cgroups.Systemd && controller != "hugetlb": // which systemd does not know
		return WriterSystemd
	}
	return WriterNobody
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
