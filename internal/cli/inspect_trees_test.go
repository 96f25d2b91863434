package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/kqos/kqos/internal/inspect"
)

// TestInspectRecordedTrees inspects each node of testdata/golden/kubelet-trees
// as a captured one. A real kubelet made them, so nothing drifts on them.
func TestInspectRecordedTrees(t *testing.T) {
	folders, err := filepath.Glob("../../testdata/golden/kubelet-trees/*/configz.json")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no recorded trees (%v)", err)
	}
	for _, file := range folders {
		folder := filepath.Dir(file)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			capture(t, folder, root)
			var config struct {
				Kubeletconfig struct{ CgroupDriver string }
				CgroupDriver  string
			}
			readJSON(t, file, &config)
			got := testInspect(t, "--host-root", root, "--static", "-f", folder+"/pods", "--pods-complete",
				"--topology", writeJSON(t, recordedMachine(t, folder)), "--driver", or(config.Kubeletconfig.CgroupDriver, config.CgroupDriver))
			checkInspection(t, got, folder)
		})
	}
}

func checkInspection(t *testing.T, got *cgroupInspection, folder string) {
	t.Helper()
	var recorded recordedPods
	readJSON(t, folder+"/containers.json", &recorded)
	made, _ := recordedTree(t, folder)
	names := map[string]string{}
	for _, p := range recorded.Pods {
		for _, c := range p.Containers {
			names[c.Cgroup] = p.UID + " " + c.Name
		}
	}
	for _, c := range got.Cgroups {
		for _, d := range c.Drift {
			t.Errorf("%s drifted: %+v", c.Path, d)
		}
		if want := names[c.Path]; want != "" && (c.Pod == nil || c.Pod.UID+" "+c.Container != want) {
			t.Errorf("%s: got pod %+v container %q, want %s", c.Path, c.Pod, c.Container, want)
		}
		if weight := c.Writers["cpu.weight"]; names[c.Path] != "" && got.CgroupVersion == 2 && weight != inspect.WriterRuntimeCurve {
			t.Errorf("%s: cpu.weight %s written by %q, want the quadratic runtime", c.Path, c.Files["cpu.weight"], weight)
		}
		delete(names, c.Path)
	}
	for path, who := range names {
		// Containers that restart again and again had none at that moment.
		if path != "" && made[path] != nil {
			t.Errorf("%s of %s was not shown", path, who)
		}
	}
	if len(got.Leaks) > 0 {
		t.Errorf("leaks on a healthy node: %+v", got.Leaks)
	}
}

// capture writes a recorded node as the files that a host has.
func capture(t testing.TB, folder, root string) {
	t.Helper()
	captureCgroups(t, folder, root)
	var recorded struct {
		Pods []struct {
			UID, Name, Namespace string
			Containers           []struct{ Name, ID string }
		}
	}
	readJSON(t, folder+"/containers.json", &recorded)
	for _, p := range recorded.Pods {
		captured(t, root, "var/lib/kubelet/pods/"+p.UID+"/etc-hosts", "")
		captured(t, root, fmt.Sprintf("var/log/pods/%s_%s_%s/x", p.Namespace, p.Name, p.UID), "")
		for _, c := range p.Containers {
			captured(t, root, fmt.Sprintf("var/log/containers/%s_%s_%s-%s.log", p.Name, p.Namespace, c.Name, c.ID), "")
		}
	}
	for from, to := range map[string]string{
		"config.yaml": "config.yaml", "checkpoints/cpu_manager_state": "cpu_manager_state", "checkpoints/memory_manager_state": "memory_manager_state",
	} {
		if text, err := os.ReadFile(filepath.Join(folder, from)); err == nil {
			captured(t, root, "var/lib/kubelet/"+to, string(text))
		}
	}
}

// unread are recorded files that nobody looks at.
var unread = regexp.MustCompile(`^(cgroup|io|blkio|rdma|misc|freezer|devices|net_.*)\.|^(notify|release|tasks)|swap.high|burst|partition|idle|uclamp`)

func captureCgroups(t testing.TB, folder, root string) {
	t.Helper()
	recorded := readRecorded(t, folder)
	if recorded.Cgroups != nil {
		captured(t, root, "sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids\n")
		recorded.Hierarchies = map[string]map[string]map[string]string{"": recorded.Cgroups}
	}
	for controllers, hierarchy := range recorded.Hierarchies {
		for path, files := range hierarchy {
			for file, value := range files {
				if unread.MatchString(file) {
					continue
				}
				captured(t, root, "sys/fs/cgroup/"+controllers+path+"/"+file, value+"\n")
			}
		}
	}
}

func captured(t testing.TB, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func testInspect(t testing.TB, args ...string) *cgroupInspection {
	t.Helper()
	var out, messages bytes.Buffer
	sys := System{In: bytes.NewReader(nil), Out: &out, Err: &messages, Getenv: func(string) string { return "" }}
	if code := Main(slices.Concat([]string{"inspect"}, args, []string{"-o", "json"}), sys); code != exitDone {
		t.Fatalf("kqos inspect %v: exit code %d\n%s", args, code, &messages)
	}
	var got cgroupInspection
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if testing.Verbose() {
		t.Log(regexp.MustCompile(`(?m)^`).ReplaceAllString(messages.String(), "  "))
	}
	return &got
}
