package doctor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/inspect"
)

// podShapes tells in which drivers' shapes pods lie, with one example each.
func (f *Facts) podShapes() []string {
	if f.Cgroups == nil {
		return nil
	}
	examples := map[string]string{}
	for _, at := range f.Cgroups.Live {
		if inspect.Identify(at).Level != cgroups.LevelPod {
			continue
		}
		shape := driverOfPod(at)
		if examples[shape] == "" {
			examples[shape] = at
		}
	}
	var shapes []string
	for shape, at := range examples {
		shapes = append(shapes, fmt.Sprintf("%s (%s)", shape, at))
	}
	slices.Sort(shapes)
	return shapes
}

// driverOfPod is the driver that makes a pod's cgroup of that path.
func driverOfPod(at string) string {
	if strings.HasSuffix(path.Base(at), ".slice") {
		return cgroups.Systemd
	}
	return cgroups.Cgroupfs
}

// liveShapes are the drivers that the names of live containers tell of their
// runtime: under systemd it makes scopes, else plain folders.
func (f *Facts) liveShapes() []DriverWord {
	if f.Cgroups == nil {
		return nil
	}
	var words []DriverWord
	seen := map[string]bool{}
	for _, at := range f.Cgroups.Live {
		if !inspect.OfRuntime(at) {
			continue
		}
		shape := cgroups.Cgroupfs
		if strings.HasSuffix(path.Base(at), ".scope") {
			shape = cgroups.Systemd
		}
		if !seen[shape] {
			seen[shape] = true
			words = append(words, DriverWord{From: "live name " + at, Driver: shape, Of: PartyRuntime})
		}
	}
	return words
}
