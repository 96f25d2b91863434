package cgroups

import (
	"maps"
	"slices"
	"strconv"
)

// Diff gives what separates a live tree from the wanted one: for each cgroup,
// parents first, its creation if it is missing and each file that reads other
// than wanted. Files that the host does not offer and values that are unknown
// are left out. Removals are not its affair: what is not wanted may be
// another's.
func Diff(want Tree, have LiveTree) []Change {
	var changes []Change
	for i := range want.Cgroups {
		changes = append(changes, DiffCgroup(&want.Cgroups[i], have[want.Cgroups[i].Path])...)
	}
	return changes
}

// DiffCgroup is Diff for one cgroup.
func DiffCgroup(want *Cgroup, have Live) []Change {
	var changes []Change
	if !have.Exists {
		changes = append(changes, Change{Op: OpCreate, Path: want.Path, Why: string(want.Level)})
	}
	if have.Exists && asWanted(want, have) {
		return changes
	}
	for _, file := range slices.Sorted(maps.Keys(want.Files)) {
		if _, ok := want.Unknown[file]; ok {
			continue
		}
		value := want.Files[file]
		now, offered := have.Files[file]
		if have.Exists && (!offered || have.Holds(file, value) || want.converts(file, now)) {
			continue
		}
		changes = append(changes, Change{
			Op: OpUpdate, Path: want.Path, File: file, From: now, To: value, Why: want.Why[file],
		})
	}
	return changes
}

// converts says whether a container's weight comes from its shares by either of
// the conversions that runtimes have: both are right.
func (c *Cgroup) converts(file, now string) bool {
	return c.Level == LevelContainer && file == "cpu.weight" && RuntimeWeight(c.CPUShares, now) != ""
}

// The conversions of shares to cpu.weight: runc's before 1.3.2, which is the
// kubelet's too, and runc's since.
const (
	WeightLinear    = "linear"
	WeightQuadratic = "quadratic"
)

// RuntimeWeight names the conversion by which a weight comes from shares; empty
// where neither gives it.
func RuntimeWeight(shares uint64, weight string) string {
	n, err := strconv.ParseUint(weight, 10, 64)
	switch {
	case err != nil || shares == 0:
		return ""
	case n == SharesToWeightRuntime(shares):
		return WeightQuadratic
	case n == SharesToWeight(shares):
		return WeightLinear
	}
	return ""
}

// asWanted says whether no file differs, without putting them in order: what a
// tick finds of nearly all cgroups.
func asWanted(want *Cgroup, have Live) bool {
	for file, value := range want.Files {
		now, offered := have.Files[file]
		if !offered || now == value || have.Holds(file, value) || want.converts(file, now) {
			continue
		}
		if _, unknown := want.Unknown[file]; !unknown {
			return false
		}
	}
	return true
}
