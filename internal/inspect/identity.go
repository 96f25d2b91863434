package inspect

import (
	"slices"
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
	var root, name cgroups.Name
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		switch id.Level {
		case cgroups.LevelPod:
			if c := containerID(part); c != "" {
				id.Level, id.ContainerID = cgroups.LevelContainer, c
			}
			continue
		case cgroups.LevelContainer:
			continue // crun's inner cgroup and what the container makes itself
		}
		if strings.HasSuffix(part, ".slice") { // says the whole name again
			name = cgroups.ParseDriverName(cgroups.Systemd, part)
		} else {
			name = append(name, part)
		}
		if i := slices.Index(name, "kubepods"); root == nil && i >= 0 {
			root = slices.Clone(name[:i+1])
			id.Level = cgroups.LevelNode
		}
		if root == nil {
			continue
		}
		if uid, ok := cgroups.IsPod(root, name); ok {
			id.Level, id.PodUID = cgroups.LevelPod, uid
		} else if isTier(name[len(root):]) {
			id.Level = cgroups.LevelQoS
		}
	}
	return id
}

// OfRuntime says whether a path is that of a cgroup that a runtime makes for a
// container. What lies below is the container's own affair.
func OfRuntime(path string) bool {
	return Identify(path).Level == cgroups.LevelContainer && Identify(parent(path)).Level == cgroups.LevelPod
}

func isTier(below cgroups.Name) bool {
	return len(below) == 1 && (below[0] == "burstable" || below[0] == "besteffort")
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
