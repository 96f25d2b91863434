package apply

import (
	"path"
	"strings"

	"github.com/kqos/kqos/internal/cgroups"
)

// holdsPods says whether pod cgroups stand right below a cgroup.
func holdsPods(cg *cgroups.Cgroup) bool {
	return cg.Level == cgroups.LevelQoS || cg.Level == cgroups.LevelNode
}

// podCgroup is the cgroup of a pod on the host, wanted or not.
type podCgroup struct{ at, uid string }

// podsOf lists the pods on the host below the tiers of the wanted tree.
func podsOf(tree cgroups.Tree, host Reader) ([]podCgroup, error) {
	var all []podCgroup
	for i := range tree.Cgroups {
		if cg := &tree.Cgroups[i]; holdsPods(cg) {
			pods, err := podsBelow(host, cg.Path)
			if err != nil {
				return nil, err
			}
			all = append(all, pods...)
		}
	}
	return all, nil
}

// podsBelow lists the pods right below kubepods or a tier.
func podsBelow(host Reader, tier string) ([]podCgroup, error) {
	children, err := host.Children(tier)
	var pods []podCgroup
	for _, child := range children {
		if uid, pod := podUID(child); pod {
			pods = append(pods, podCgroup{path.Join(tier, child), uid})
		}
	}
	return pods, err
}

// component reads the last component of a cgroup's name back from its folder.
func component(folder string) string {
	driver := cgroups.Cgroupfs
	if strings.HasSuffix(folder, ".slice") {
		driver = cgroups.Systemd
	}
	name := cgroups.ParseDriverName(driver, folder)
	return name[len(name)-1]
}

// podUID recognises the folder of a pod right below kubepods or a tier, by the
// last component of its name, as the kubelet's search for orphans does.
//
// kubelet v1.37: cm/pod_container_manager_linux.go GetAllPodsFromCgroups
func podUID(folder string) (uid string, ok bool) {
	uid, ok = cgroups.IsPod(nil, cgroups.Name{component(folder)})
	return uid, ok && uid != ""
}
