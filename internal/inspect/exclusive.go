package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/cgroups"
)

// exclusive holds the CPUs that containers have for themselves against who may
// run there and against the machine.
func (i *Inspection) exclusive(ctx context.Context, r *Report) {
	owners, notes := i.owners(r.Cgroups)
	r.Notes = append(r.Notes, notes...)
	r.Notes = append(r.Notes, i.idle(r.Cgroups)...)
	if len(owners) == 0 {
		return
	}
	intruders, err := Intruders(ctx, i.Root, owners)
	if err != nil {
		r.Notes = append(r.Notes, err.Error())
	}
	r.Intruders = intruders
	for _, o := range owners {
		if i.Machine == nil {
			break
		}
		placed := Placed{Exclusive: o, Alignment: align(i.Machine, o.CPUs)}
		var pids []int
		for _, path := range i.Hierarchy.Walk(o.Path) {
			// What can't be read is noted where leaks and usage look.
			found, _ := i.Hierarchy.PIDs(path)
			pids = append(pids, found...)
		}
		if len(pids) > 0 && ctx.Err() == nil {
			var err error
			// Processes may have ended, and an archive has none.
			if placed.Memory, err = memoryPlaces(i.Root, pids); err != nil && !errors.Is(err, fs.ErrNotExist) {
				r.Notes = append(r.Notes, fmt.Sprintf("where the memory of %s lies is unknown: %v", o.Owner, err))
			}
		}
		r.Placed = append(r.Placed, placed)
	}
}

// owners finds the cgroup of each container with CPUs of its own among those
// shown. Where the container's own is not known, its pod's stands for it. A pod
// that is gone from the node altogether is told: its CPUs lie idle.
func (i *Inspection) owners(shown []Cgroup) (owners []Exclusive, notes []string) {
	containers, pods := map[containerKey]string{}, map[string]string{}
	for n := range shown {
		c := &shown[n]
		if c.Pod == nil || c.Missing {
			continue
		}
		key := containerKey{c.Pod.UID, c.Container}
		if _, outer := containers[key]; c.Level == cgroups.LevelContainer && c.Container != "" && !outer {
			containers[key] = c.Path
		}
		if _, outer := pods[c.Pod.UID]; c.Level == cgroups.LevelPod && !outer {
			pods[c.Pod.UID] = c.Path
		}
	}
	for _, uid := range slices.Sorted(maps.Keys(i.Exclusive)) {
		for _, name := range slices.Sorted(maps.Keys(i.Exclusive[uid])) {
			cpus, shared := i.share(uid, name)
			if cpus.IsEmpty() {
				continue
			}
			owner := Exclusive{Owner: i.ownerName(uid, name), CPUs: cpus, Path: containers[containerKey{uid, name}]}
			if owner.Path == "" {
				owner.Path = pods[uid]
			}
			if owner.Home = owner.Path; shared {
				owner.Home = pods[uid]
			}
			switch {
			case owner.Path != "":
				owners = append(owners, owner)
			case i.Whole:
				notes = append(notes, fmt.Sprintf("CPUs %s belong to %s alone, of which no cgroup is left: nobody uses them until the kubelet drops the pod", cpus, owner.Owner))
			}
		}
	}
	return owners, notes
}

// share is what a container has of the CPUs of its pod, shared if others of the
// pod have some of them too. To the pod itself, which has the empty name, belongs
// what none of its containers has.
func (i *Inspection) share(uid, name string) (cpus cpuset.CPUSet, shared bool) {
	cpus = i.Exclusive[uid][name]
	for other, theirs := range i.Exclusive[uid] {
		switch {
		case other == name || other == "":
		case name == "":
			cpus = cpus.Difference(theirs)
		case !cpus.Intersection(theirs).IsEmpty():
			shared = true
		}
	}
	return cpus, shared
}

func (i *Inspection) ownerName(uid, container string) string {
	ref := i.Owners.Pod(uid)
	name := uid
	if ref.Name != "" {
		name = ref.Namespace + "/" + ref.Name
	}
	if container == "" {
		return name
	}
	return name + "/" + container
}

// Entries turns CPUs that are known by the pod's name into those known by UID.
// Pods that the node does not know are left out.
func (o *Owners) Entries(byName map[cgroups.PodRef]map[string]cpuset.CPUSet) map[string]map[string]cpuset.CPUSet {
	entries := map[string]map[string]cpuset.CPUSet{}
	for ref, containers := range byName {
		if uid := o.UID(ref.Namespace, ref.Name); uid != "" {
			entries[uid] = containers
		}
	}
	return entries
}
