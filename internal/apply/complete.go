package apply

import "github.com/kqos/kqos/internal/cgroups"

// OwnTree says whether all pods below the wanted tree's tiers are known to be
// the wanted ones, because kqos made the tiers and each pod there: then sums
// over the wanted pods starve nobody. A pod cgroup that is not wanted counts as
// gone only if it is to be pruned and nothing lives in it.
func OwnTree(tree cgroups.Tree, host Reader, prune bool) (bool, error) {
	wanted := make(map[string]bool, len(tree.Cgroups))
	for i := range tree.Cgroups {
		wanted[tree.Cgroups[i].Path] = true
	}
	for i := range tree.Cgroups {
		cg := &tree.Cgroups[i]
		if !holdsPods(cg) {
			continue
		}
		live, err := host.Read(cg)
		if err != nil {
			return false, err
		}
		if !live.Exists {
			continue
		}
		if !live.Marked {
			return false, nil
		}
		pods, err := podsBelow(host, cg.Path)
		if err != nil {
			return false, err
		}
		for _, pod := range pods {
			ours, err := host.Read(&cgroups.Cgroup{Path: pod.at})
			if err != nil {
				return false, err
			}
			if !ours.Marked || (!wanted[pod.at] && !prune) {
				return false, nil
			}
			if wanted[pod.at] {
				continue
			}
			if held, err := host.Holds(pod.at); held != "" || err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// UnknownPod gives the path of a pod cgroup below the wanted tree's tiers whose
// UID is not among those known; "" when there is none.
func UnknownPod(tree cgroups.Tree, host Reader, known map[string]bool) (string, error) {
	pods, err := podsOf(tree, host)
	for _, pod := range pods {
		if !known[pod.uid] {
			return pod.at, nil
		}
	}
	return "", err
}
