package inspect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kqos/kqos/internal/cgroups"
)

func TestIdentify(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	uid := "7c8f5a31-2f0e-4d6b-9a53-6d0f2f3e1b01"
	slice := "kubepods-burstable-pod" + strings.ReplaceAll(uid, "-", "_") + ".slice"
	pod := Identity{Level: cgroups.LevelPod, PodUID: uid}
	container := Identity{Level: cgroups.LevelContainer, PodUID: uid, ContainerID: id}
	for path, want := range map[string]Identity{
		"/":                               {},
		"/system.slice/ssh.service":       {},
		"/podinfo":                        {},
		"/kubepods":                       {Level: cgroups.LevelNode},
		"/kubepods.slice":                 {Level: cgroups.LevelNode},
		"/kube.slice/kube-kubepods.slice": {Level: cgroups.LevelNode},
		"/kubepods/besteffort":            {Level: cgroups.LevelQoS},
		"/kubepods.slice/kubepods-besteffort.slice":                                              {Level: cgroups.LevelQoS},
		"/kubepods/pod" + uid:                                                                    pod,
		"/kubepods/burstable/pod" + uid + "/" + id:                                               container,
		"/kubepods.slice/kubepods-burstable.slice/" + slice:                                      pod,
		"/kubepods.slice/kubepods-burstable.slice/" + slice + "/cri-containerd-" + id + ".scope": container,
		"/kubepods.slice/kubepods-burstable.slice/" + slice + "/crio-" + id + ".scope/container": container,
		"/kubepods.slice/kubepods-burstable.slice/" + slice + "/docker-" + id + ".scope":         container,
		"/kubepods.slice/kubepods-burstable.slice/" + slice + "/crio-conmon-" + id + ".scope":    pod,
		"/kube.slice/kube-kubepods.slice/kube-kubepods-pod1_2.slice":                             {Level: cgroups.LevelPod, PodUID: "1-2"},
	} {
		if d := cmp.Diff(want, Identify(path)); d != "" {
			t.Errorf("%s: -want +got:\n%s", path, d)
		}
	}
}

func FuzzIdentify(f *testing.F) {
	f.Add("/kubepods.slice/kubepods-pod1_2.slice/cri-containerd-0123456789abcdef.scope")
	f.Add("/kubepods/pod1/0123456789ab/x")
	f.Fuzz(func(t *testing.T, path string) {
		id := Identify(path)
		if id.ContainerID != "" && id.Level != cgroups.LevelContainer || id.Level == "" && id.PodUID != "" {
			t.Errorf("%q: %+v", path, id)
		}
	})
}
