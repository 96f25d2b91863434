package inspect

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/nodeapi"
)

// Who writes to the kubelet's cgroups.
const (
	// WriterRuntimeLinear and WriterRuntimeCurve tell by which conversion the
	// runtime made a cpu.weight of shares.
	WriterRuntimeLinear = "runtime: linear cpu.weight, as runc before 1.3.2"
	WriterRuntimeCurve  = "runtime: quadratic cpu.weight, as runc since 1.3.2"
	// WriterKubeletCapacity and WriterKubeletEmpty are values that the kubelet
	// writes in another situation.
	WriterKubeletCapacity = "kubelet: the node's whole capacity, as with a configuration that reserves nothing"
	WriterKubeletEmpty    = "kubelet: the tier without pods; it sums them up anew once a minute"
	// WriterKubeletPool is what the kubelet told the runtime to write before it
	// gave CPUs to a container alone.
	//
	// kubelet v1.37: cm/cpumanager/cpu_manager.go reconcileState.
	WriterKubeletPool = "kubelet, through the runtime: an earlier shared pool; the CPU manager corrects it each cpuManagerReconcilePeriod"
	// WriterKubeletProperty, WriterRuntimeProperty, WriterProperty and WriterFile
	// rest on what systemd holds of the unit. WriterProperty is followed by a file.
	WriterKubeletProperty = "kubelet, of an earlier configuration or other pods: systemd holds the same value"
	WriterRuntimeProperty = "runtime, of an earlier spec of the container: systemd holds the same value"
	WriterProperty        = "by hand: systemctl set-property, kept in "
	WriterFile            = "by hand, into the file alone: systemd holds what is wanted, and a daemon-reload writes it again"
	WriterSystemd         = "systemd: a daemon-reload sets back what is no property of the unit"
	WriterHand            = "by hand, or a program that is neither kubelet nor runtime"
	// WriterRuntimeDefault and WriterNobody stand for files that nobody wrote.
	WriterRuntimeDefault = "runtime: it left the kernel's default"
	WriterNobody         = "nobody: it reads the kernel's default, so the kubelet has not written it since the cgroup was made"
)

// weightWriter names the conversion by which a weight comes from the shares;
// empty where neither gives it.
func weightWriter(shares uint64, have string) string {
	switch cgroups.RuntimeWeight(shares, have) {
	case cgroups.WeightQuadratic:
		return WriterRuntimeCurve
	case cgroups.WeightLinear:
		return WriterRuntimeLinear
	}
	return ""
}

const weightFile = "cpu.weight"

// writer guesses who wrote a value that is not as wanted.
func (i *Inspection) writer(want *cgroups.Cgroup, at, file, have string) string {
	name := path.Base(file)
	if name == weightFile && want.Level != cgroups.LevelContainer && weightWriter(want.CPUShares, have) == WriterRuntimeCurve {
		return WriterRuntimeCurve
	}
	for _, guess := range []string{i.unitWriter(want, at, file, have), i.kubeletWriter(want, file, have)} {
		if guess != "" {
			return guess
		}
	}
	controller, _ := cgroups.SplitFile(file)
	switch {
	case !untouched(file, have):
		return WriterHand
	case want.Level == cgroups.LevelContainer:
		return WriterRuntimeDefault
	case i.Want.Driver == cgroups.Systemd && controller != "hugetlb": // which systemd does not know
		return WriterSystemd
	}
	return WriterNobody
}

// unitWriter guesses from what systemd holds of the unit.
func (i *Inspection) unitWriter(want *cgroups.Cgroup, at, file, have string) string {
	unit, known := i.units[at]
	held, kept := cgroups.Reloaded(i.Hierarchy.version, unit.Properties)[file]
	if !known || !kept {
		return ""
	}
	switch {
	case cgroups.Equal(file, want.Files[file], held):
		return WriterFile
	case !cgroups.Equal(file, held, have) || untouched(file, have):
		return ""
	}
	// What the kubelet and runtimes set is kept below /run: it ends with the boot.
	for _, f := range unit.Files {
		if strings.HasPrefix(f, "/etc/") && strings.Contains(path.Base(f), cgroups.PropertyOf(file)) {
			return WriterProperty + f
		}
	}
	if want.Level == cgroups.LevelContainer {
		return WriterRuntimeProperty
	}
	return WriterKubeletProperty
}

// kubeletWriter guesses from what the kubelet writes in other situations.
func (i *Inspection) kubeletWriter(want *cgroups.Cgroup, file, have string) string {
	switch {
	case want.Level == cgroups.LevelNode && i.Machine != nil && i.wholeCapacity(file, have):
		return WriterKubeletCapacity
	case want.Level == cgroups.LevelQoS && (file == weightFile && have == "1" || file == "cpu/cpu.shares" && have == strconv.Itoa(cgroups.MinShares)):
		return WriterKubeletEmpty
	case want.Level == cgroups.LevelContainer && path.Base(file) == "cpuset.cpus" && i.earlierPool(want.Files[file], have):
		return WriterKubeletPool
	}
	return ""
}

// wholeCapacity tells whether kubepods is limited by what the machine has.
//
// kubelet v1.37: cm/node_container_manager_linux.go getNodeAllocatableInternalAbsolute.
func (i *Inspection) wholeCapacity(file, have string) bool {
	shares := cgroups.MilliCPUToShares(int64(i.Machine.Online().Size()) * 1000)
	capacity := map[string]string{
		weightFile: strconv.FormatUint(cgroups.SharesToWeight(shares), 10), "cpu/cpu.shares": strconv.FormatUint(shares, 10),
		"memory.max": strconv.FormatInt(i.Machine.Memory, 10), "memory/memory.limit_in_bytes": strconv.FormatInt(i.Machine.Memory, 10),
	}
	text, known := capacity[file]
	return known && cgroups.Equal(file, text, have)
}

// earlierPool tells whether a container runs in a shared pool of before CPUs were
// given away: all that is wanted, and CPUs that others have by now; or, where the
// container itself has CPUs, those of nobody.
func (i *Inspection) earlierPool(want, have string) bool {
	w, err := cpuset.Parse(want)
	h, wrong := cpuset.Parse(have)
	if err != nil || wrong != nil || h.IsEmpty() {
		return false
	}
	given := cpuset.New()
	for _, containers := range i.Exclusive {
		for _, cpus := range containers {
			given = given.Union(cpus)
		}
	}
	older := w.IsSubsetOf(h) && h.Difference(w).IsSubsetOf(given)
	pool := i.Machine != nil && h.Equals(i.Machine.Online().Difference(given))
	return !given.IsEmpty() && (older || pool)
}

// askSystemd learns what systemd holds of the units of cgroups that drifted, and
// says anew who wrote to them.
func (i *Inspection) askSystemd(ctx context.Context, all []Cgroup, w *wanted) (note string) {
	var names []string
	drifted := map[string]*Cgroup{}
	for n := range all {
		c := &all[n]
		if unit := cgroups.UnitOf(c.Path); unit != "" && len(c.Drift) > 0 && !c.Missing {
			names = append(names, unit)
			drifted[unit] = c
		}
	}
	if len(names) == 0 || len(i.Systemd) == 0 || i.Want.Driver != cgroups.Systemd {
		return ""
	}
	slices.Sort(names)
	units, err := nodeapi.Units(ctx, i.Systemd, names)
	i.units = make(map[string]nodeapi.Unit, len(units))
	for name, unit := range units {
		i.units[drifted[name].Path] = unit
		i.judge(drifted[name], w)
	}
	if err != nil {
		return "what systemd holds of its units is not known, so who wrote is a guess from the values alone: " + err.Error()
	}
	return ""
}
