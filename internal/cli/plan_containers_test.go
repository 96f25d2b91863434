package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kqos/kqos/internal/cgroups"
)

// TestDiffOfRecordedContainers finds the cgroups that runtimes made on the nodes
// of testdata/golden/kubelet-trees, and nothing to change in them.
func TestDiffOfRecordedContainers(t *testing.T) {
	folders, err := filepath.Glob("../../testdata/golden/kubelet-trees/*/configz.json")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no recorded trees (%v)", err)
	}
	found := map[string]int{}
	for _, file := range folders {
		folder := filepath.Dir(file)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			root := t.TempDir()
			capture(t, folder, root)
			captured(t, root, "proc/1/comm", "init\n")
			var config struct {
				Kubeletconfig struct{ CgroupDriver string }
				CgroupDriver  string
			}
			readJSON(t, file, &config)
			kind := or(config.Kubeletconfig.CgroupDriver, config.CgroupDriver)
			plan := wholePlan(t, "apply", "--dry-run", "--host-root", root, "--static", "--containers", "--config", folder+"/config.yaml", "-f", folder+"/pods", "--pods-complete", "--driver", kind)
			var recorded recordedPods
			readJSON(t, folder+"/containers.json", &recorded)
			for _, p := range recorded.Pods {
				for _, c := range p.Containers {
					if tree, _ := recordedTree(t, folder); tree[c.Cgroup] == nil {
						continue // it restarted again and again, and had none at that moment
					}
					at := findContainer(plan, p.UID, c.Name)
					if at == nil || at.Path != c.Cgroup {
						t.Errorf("container %s of pod %s: found %+v, want %s", c.Name, p.UID, at, c.Cgroup)
						continue
					}
					if strings.HasSuffix(at.Path, ".scope") != strings.HasSuffix(at.Unit, ".scope") {
						t.Errorf("unit %q of %s", at.Unit, at.Path)
					}
					found[kind]++
					for _, change := range plan.Changes {
						if change.Path == at.Path {
							t.Errorf("to change: %+v", change)
						}
					}
				}
			}
		})
	}
	for _, kind := range []string{cgroups.Cgroupfs, cgroups.Systemd} {
		if found[kind] == 0 {
			t.Errorf("no container found under driver %s", kind)
		}
	}
}

func findContainer(plan *cgroupPlan, uid, name string) *cgroups.Cgroup {
	for i := range plan.Cgroups {
		if c := &plan.Cgroups[i]; c.Container == name && c.Pod.UID == uid {
			return c
		}
	}
	return nil
}
