package apply

import (
	"path"
	"strings"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/cgroups"
)

// Held are the CPUs or NUMA nodes that containers run on, by pod UID and
// container name.
type Held map[string]map[string]cpuset.CPUSet

// ReadHeld reads a cpuset file (cpuset.cpus or cpuset.mems) of each container
// cgroup that kqos made below the wanted tree's tiers, wanted or not: where
// there is no kubelet to keep a checkpoint, the cgroups themselves tell what
// runs where.
func ReadHeld(tree cgroups.Tree, host Reader, file string) (Held, error) {
	if tree.Version == 1 {
		file = "cpuset/" + file
	}
	pods, err := podsOf(tree, host)
	if err != nil {
		return nil, err
	}
	held := Held{}
	for _, pod := range pods {
		containers, err := heldBelow(host, pod.at, file)
		if err != nil {
			return nil, err
		}
		if len(containers) > 0 {
			held[pod.uid] = containers
		}
	}
	return held, nil
}

func heldBelow(host Reader, pod, file string) (map[string]cpuset.CPUSet, error) {
	children, err := host.Children(pod)
	if err != nil {
		return nil, err
	}
	held := map[string]cpuset.CPUSet{}
	for _, child := range children {
		live, err := host.Read(&cgroups.Cgroup{Path: path.Join(pod, child), Files: map[string]string{file: ""}})
		if err != nil {
			return nil, err
		}
		set, err := cpuset.Parse(strings.TrimSpace(live.Files[file]))
		if err == nil && live.Marked && !set.IsEmpty() {
			held[component(child)] = set
		}
	}
	return held, nil
}
