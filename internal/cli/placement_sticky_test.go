package cli

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kqos/kqos/internal/apply"
	"github.com/kqos/kqos/internal/cgroups"
)

// made is a host that holds what was applied last.
type made map[string]*cgroups.Cgroup

func (m made) Read(cg *cgroups.Cgroup) (cgroups.Live, error) {
	have, ok := m[cg.Path]
	if !ok {
		return cgroups.Live{}, nil
	}
	return cgroups.Live{Exists: true, Marked: true, Files: have.Files}, nil
}

func (m made) Children(at string) ([]string, error) {
	var names []string
	for p := range m {
		if path.Dir(p) == at {
			names = append(names, path.Base(p))
		}
	}
	slices.Sort(names)
	return names, nil
}

func (made) ReadFile(string, string) (string, error)                   { return "", nil }
func (made) Controllers(string) (available, enabled []string, _ error) { return nil, nil, nil }
func (made) Holds(string) (string, error)                              { return "", nil }
func (made) Delegated(string) (bool, error)                            { return false, nil }
func (made) Recall(string) (string, error)                             { return "", nil }

// want plans for guaranteed pods with the given CPUs each, on top of a host.
func (m made) want(t *rapid.T, cpus map[string]int) cgroups.Tree {
	var in bytes.Buffer
	fmt.Fprint(&in, "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncpuManagerPolicy: static\nreservedSystemCPUs: \"0\"\nfailSwapOn: false\n")
	for _, name := range slices.Sorted(maps.Keys(cpus)) {
		n := cpus[name]
		fmt.Fprintf(&in, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %[1]s, uid: %[1]s}\nspec: {containers: [{name: c, image: x, resources: {limits: {cpu: %[2]d, memory: 1Mi}}}]}\n", name, n)
	}
	a := &app{System: System{In: &in, Err: &bytes.Buffer{}, Getenv: func(string) string { return "" }}}
	o := &planOptions{containers: true, complete: true, podsFrom: "files"}
	o.output.format = "table"
	o.node = nodeFlags{driver: "cgroupfs", cgroupVersion: "2", kubernetes: "auto", hostRoot: "/nowhere", topology: "synthetic:cores=8,sockets=2,memory=8Gi"}
	w, err := o.want(t.Context(), a, []string{"-"})
	if err == nil {
		err = o.consult(t.Context(), a, w, m, apply.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return w.tree
}

// Removing and adding pods changes no other pod's exclusive CPUs, and no CPU is
// given away twice.
func TestPlacementIsSticky(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		host := made{}
		pods := map[string]int{}
		has := map[string]string{}
		for i := range rapid.IntRange(1, 6).Draw(t, "rounds") {
			next := fmt.Sprintf("p%d", i)
			if rapid.Bool().Draw(t, "comes first") {
				next = fmt.Sprintf("a%d", i)
			}
			for _, name := range slices.Sorted(maps.Keys(pods)) {
				if rapid.Bool().Draw(t, "remove "+name) {
					delete(pods, name)
					delete(has, name)
				}
			}
			pods[next] = rapid.IntRange(1, 3).Draw(t, "cpus")
			tree := host.want(t, pods)
			clear(host)
			taken := map[string]string{}
			for j := range tree.Cgroups {
				cg := &tree.Cgroups[j]
				host[cg.Path] = cg
				if cg.Level != cgroups.LevelContainer {
					continue
				}
				cpus := cg.Files["cpuset.cpus"]
				if before, ok := has[cg.Pod.UID]; ok && before != cpus {
					t.Fatalf("round %d: pod %s moved from CPUs %s to %s", i, cg.Pod.UID, before, cpus)
				}
				if other, ok := taken[cpus]; ok {
					t.Fatalf("round %d: pods %s and %s both have CPUs %s", i, other, cg.Pod.UID, cpus)
				}
				has[cg.Pod.UID], taken[cpus] = cpus, cg.Pod.UID
			}
		}
	})
}
