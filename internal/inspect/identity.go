package inspect

import (
	"strings"

	"github.com/kqos/kqos/internal/cgroups"
)

// Identity is what a cgroup's path alone tells of it.
type Identity struct {
	// Level is empty for a cgroup that is none of the kubelet's.
	Level cgroups.Level
	// PodUID as the API server writes it, with dashes; also set for containers.
	PodUID string
	// ContainerID is the runtime's id; the sandbox has one as well.
	ContainerID string
}

// Identify reads the shapes that the kubelet gives pods under both drivers, and
// that containerd, CRI-O (with crun's inner cgroup), docker and plain runtimes
// give containers below them.
func Identify(path string) Identity {
	var id Identity
	below := false
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		switch {
		case id.Level == cgroups.LevelPod:
			if c := containerID(part); c != "" {
				id.Level, id.ContainerID = cgroups.LevelContainer, c
			}
		case id.Level == cgroups.LevelContainer:
			// crun's inner cgroup and what the container makes itself
		case isKubepods(part):
			id.Level, below = cgroups.LevelNode, true
			if tier, uid := tierAndUID(part); uid != "" {
				id.Level, id.PodUID = cgroups.LevelPod, uid
			} else if tier {
				id.Level = cgroups.LevelQoS
			}
		case below && (part == "burstable" || part == "besteffort"):
			id.Level = cgroups.LevelQoS
		case below && strings.HasPrefix(part, "pod"):
			id.Level, id.PodUID = cgroups.LevelPod, strings.TrimPrefix(part, "pod")
		}
	}
	return id
}

// isKubepods accepts kubepods under both drivers, also below a cgroupRoot:
// kubepods, kubepods.slice, kube-kubepods.slice, kubepods-burstable.slice.
func isKubepods(part string) bool {
	name, slice := strings.CutSuffix(part, ".slice")
	if !slice {
		return part == "kubepods"
	}
	for word := range strings.SplitSeq(name, "-") {
		if word == "kubepods" {
			return true
		}
	}
	return false
}

// tierAndUID takes a systemd name apart: kubepods-burstable-pod1_2.slice.
func tierAndUID(part string) (tier bool, uid string) {
	_, rest, ok := strings.Cut(strings.TrimSuffix(part, ".slice"), "kubepods-")
	if !ok {
		return false, ""
	}
	for _, name := range []string{"burstable", "besteffort"} {
		if rest == name {
			return true, ""
		}
		rest = strings.TrimPrefix(rest, name+"-")
	}
	if uid, ok := strings.CutPrefix(rest, "pod"); ok {
		return false, strings.ReplaceAll(uid, "_", "-")
	}
	return false, ""
}

// containerID reads runtime-ID.scope or the id alone; conmon's own scope is no container.
func containerID(part string) string {
	name := strings.TrimSuffix(part, ".scope")
	if i := strings.LastIndexByte(name, '-'); i >= 0 && name != part {
		if strings.HasSuffix(name[:i], "conmon") {
			return ""
		}
		name = name[i+1:]
	}
	if len(name) < 12 || len(name) > 64 || strings.Trim(name, "0123456789abcdef") != "" {
		return ""
	}
	return name
}
