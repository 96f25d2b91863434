package apply

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kqos/kqos/internal/cgroups"
)

// Below what systemd has delegated only who was given it writes, and the
// delegated cgroup's own limits stay systemd's.
func TestDelegated(t *testing.T) {
	limit := func(at string, level cgroups.Level, unit string) cgroups.Cgroup {
		return cgroups.Cgroup{Path: at, Level: level, Unit: unit, Files: map[string]string{"pids.max": "5"}}
	}
	const other, pod = "only who was given it writes there", "/kubepods/podu"
	for _, tt := range []struct {
		name      string
		delegated string
		tree      []cgroups.Cgroup
		driver    string
		self      string
		// written are the files written, withheld a part of each reason.
		written, withheld []string
	}{
		{
			name: "another's unit", delegated: "/containerd.service",
			tree:     []cgroups.Cgroup{limit("/containerd.service/tools", cgroups.LevelReserved, "")},
			withheld: []string{"/containerd.service/tools : systemd has delegated /containerd.service (Delegate=), and " + other, "/containerd.service/tools pids.max: systemd has delegated"},
		},
		{
			name: "the unit itself", delegated: "/containerd.service",
			tree:     []cgroups.Cgroup{limit("/containerd.service", cgroups.LevelReserved, "")},
			withheld: []string{"/containerd.service pids.max: systemd has delegated what lies below this cgroup and keeps its own limits"},
		},
		{
			name: "the unit itself, through systemd", delegated: "/kube.slice/runtime.slice", driver: cgroups.Systemd,
			tree:    []cgroups.Cgroup{limit("/kube.slice/runtime.slice", cgroups.LevelReserved, "runtime.slice")},
			written: []string{"/ cgroup.subtree_control", "/kube.slice cgroup.subtree_control", "/kube.slice/runtime.slice pids.max"},
		},
		{
			name: "kqos runs in the unit", delegated: "/agent.service", self: "/agent.service/main",
			tree:    []cgroups.Cgroup{limit("/agent.service/tools", cgroups.LevelReserved, "")},
			written: []string{"/ cgroup.subtree_control", "/agent.service cgroup.subtree_control", "/agent.service/tools pids.max"},
		},
		{
			name: "cgroupRoot is in the unit", delegated: "/system.slice/kubelet.service",
			tree: []cgroups.Cgroup{limit("/system.slice/kubelet.service/kubepods", cgroups.LevelNode, "")},
			written: []string{
				"/ cgroup.subtree_control", "/system.slice/kubelet.service cgroup.subtree_control", "/system.slice/kubelet.service/kubepods pids.max",
			},
			// Which controllers reach the unit, systemd decides.
			withheld: []string{"/system.slice cgroup.subtree_control: systemd manages this cgroup"},
		},
		{
			name: "the container that all of this is in", delegated: "/",
			tree:    []cgroups.Cgroup{limit("/kubepods", cgroups.LevelNode, ""), limit("/tools", cgroups.LevelReserved, "")},
			written: []string{"/ cgroup.subtree_control", "/kubepods pids.max", "/tools pids.max"},
		},
		{
			name: "a runtime's scope below a pod", delegated: pod + "/runtime-1.scope",
			tree: []cgroups.Cgroup{
				limit("/kubepods", cgroups.LevelNode, ""), limit(pod, cgroups.LevelPod, ""), limit(pod+"/runtime-1.scope", cgroups.LevelContainer, ""),
			},
			written:  []string{"/ cgroup.subtree_control", "/kubepods cgroup.subtree_control", "/kubepods pids.max", pod + " pids.max"},
			withheld: []string{pod + "/runtime-1.scope pids.max: systemd has delegated what lies below"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake()
			for at := range lineage(tt.delegated) {
				if at != "/" {
					f.groups[at] = &group{files: map[string]string{"cgroup.subtree_control": "", "cgroup.controllers": ""}}
				}
			}
			f.groups[tt.delegated].delegated = true
			for _, cg := range tt.tree {
				if g, ok := f.groups[cg.Path]; ok {
					g.files["pids.max"], g.files["pids.current"] = "max", "0"
				}
			}
			tree := cgroups.Tree{Version: 2, Driver: tt.driver, Cgroups: tt.tree}
			o := Options{Adopt: true, SystemdRuns: true, CreateReserved: true}
			if tt.self != "" {
				o.Self = []string{tt.self}
			}
			p, err := Make(tree, f, o, nil)
			if err != nil {
				t.Fatal(err)
			}
			var written []string
			for _, s := range p.Steps {
				for _, c := range s.Changes {
					if c.Op == cgroups.OpUpdate {
						written = append(written, c.Path+" "+c.File)
					}
				}
			}
			slices.Sort(written)
			if d := cmp.Diff(tt.written, written); d != "" {
				t.Errorf("writes (-want +got):\n%s", d)
			}
			if len(p.Withheld) != len(tt.withheld) {
				t.Errorf("withheld:\n%s\nwant %d", reasons(p), len(tt.withheld))
			}
			for _, want := range tt.withheld {
				if !strings.Contains(reasons(p), want) {
					t.Errorf("reasons lack %q:\n%s", want, reasons(p))
				}
			}
		})
	}
}

// What kqos made it may take away again, also where systemd delegated the parent
// to another meanwhile.
func TestRemoveBelowDelegated(t *testing.T) {
	f := newFake()
	tree := node(1)
	if _, _, err := pass(tree, f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	f.groups["/kubepods/burstable"].delegated = true
	p, r, err := pass(tree, f, Options{Remove: true}, nil)
	if err != nil || len(p.Withheld) > 0 || f.groups["/kubepods"] != nil {
		t.Errorf("%v, %+v, %s", err, r, reasons(p))
	}
	// A scope that a runtime started in the pod bears no mark: nothing goes.
	if _, _, err := pass(tree, f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	f.add(podPath+"/runtime-1.scope", false).delegated = true
	if p, _, _ = pass(tree, f, Options{Remove: true}, nil); f.groups[podPath] == nil {
		t.Errorf("the pod went from around a container: %v", p.Steps)
	}
}

// A tick with nothing to do asks nobody.
func TestNoDelegationAsked(t *testing.T) {
	f := newFake()
	tree := node(2)
	if _, _, err := pass(tree, f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	p, err := Make(tree, f, Options{}, nil)
	if err != nil || len(p.delegated) > 0 {
		t.Errorf("%v: %v were asked about", err, p.delegated)
	}
}
