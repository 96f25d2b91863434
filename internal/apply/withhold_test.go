package apply

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kqos/kqos/internal/cgroups"
)

// kubeletTree puts the wanted tree in place as another made it.
func kubeletTree(t *testing.T, tree cgroups.Tree) *fake {
	t.Helper()
	f := newFake()
	if _, _, err := pass(tree, f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	for _, g := range f.groups {
		g.marked = false
	}
	f.ops, f.writes = 0, nil
	return f
}

func reasons(p *Plan) string {
	var all []string
	for _, w := range p.Withheld {
		all = append(all, w.Path+" "+w.File+": "+w.Reason)
	}
	return strings.Join(all, "\n")
}

func TestSomebodyElsesTree(t *testing.T) {
	f := kubeletTree(t, node(2))
	f.groups["/kubepods"].files["pids.max"] = "7"
	tree := node(3)
	p, result, err := pass(tree, f, Options{}, nil)
	if err != nil || f.ops != 0 || result.Writes != 0 {
		t.Fatalf("%v: %d operations on another's tree: %v", err, f.ops, f.writes)
	}
	for _, want := range []string{
		"/kubepods pids.max: kqos did not make this cgroup; --adopt",
		"/kubepods/burstable/podu2 : kqos did not make /kubepods/burstable above it; --adopt",
	} {
		if !strings.Contains(reasons(p), want) {
			t.Errorf("reasons lack %q:\n%s", want, reasons(p))
		}
	}
	p, _, err = pass(tree, f, Options{Adopt: true}, nil)
	if err != nil || len(p.Withheld) != 0 || f.groups["/kubepods"].files["pids.max"] != "1000" {
		t.Errorf("with adopt: %v, withheld %s", err, reasons(p))
	}
	if f.groups["/kubepods"].marked {
		t.Error("adopting marked another's cgroup as kqos's own, so that --remove would take it")
	}
	if p, _, _ = pass(tree, f, Options{Remove: true, Adopt: true}, nil); f.groups["/kubepods"] == nil {
		t.Errorf("--remove --adopt took another's tree: %v", p.Steps)
	}
}

// partly is a v1 host where a cgroup lacks one hierarchy.
type partly struct {
	*fake
	at     string
	marked bool
}

func (p partly) Read(cg *cgroups.Cgroup) (cgroups.Live, error) {
	live, err := p.fake.Read(cg)
	if cg.Path == p.at {
		live.Exists, live.Marked = false, p.marked
	}
	return live, err
}

func TestPartlyThere(t *testing.T) {
	tree := node(1)
	f := newFake()
	if _, _, err := pass(tree, f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	pod := "/kubepods/burstable/podu0"
	f.groups[pod].files["pids.max"] = "max"
	p, err := Make(tree, partly{f, pod, false}, Options{}, nil)
	if err != nil || len(p.Steps) != 0 || !strings.Contains(reasons(p), "did not make this cgroup") {
		t.Errorf("another's: %v, %v, %s", err, p.Steps, reasons(p))
	}
	p, err = Make(tree, partly{f, pod, true}, Options{}, nil)
	if err != nil || len(p.Withheld) != 0 || len(p.Steps) == 0 {
		t.Errorf("our own, cut off: %v, %v, %s", err, p.Steps, reasons(p))
	}
}

func TestBelowALiveKubelet(t *testing.T) {
	tree := node(2)
	f := kubeletTree(t, tree)
	tree.Cgroups = append(tree.Cgroups, cgroups.Cgroup{
		Path: "/kubepods/burstable/podnew", Level: cgroups.LevelPod, Pod: &cgroups.PodRef{UID: "new"},
		Files: map[string]string{"pids.max": "1"},
	})
	f.groups["/kubepods/burstable/podu0"].files["pids.max"] = "9"
	f.groups["/kubepods/burstable/podu1"].files["pids.max"] = "9"
	f.groups["/kubepods/burstable/podleft"] = &group{marked: true, files: map[string]string{}}
	o := Options{Adopt: true, Prune: true, Kubelet: &Kubelet{Pods: map[string]PodState{"u0": {}, "u1": {Pending: true}, "new": {}}}}
	p, _, err := pass(tree, f, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/kubepods/burstable/podu0 pids.max=100"}, f.writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if f.groups["/kubepods/burstable/podnew"] != nil || f.groups["/kubepods/burstable/podleft"] == nil {
		t.Error("a pod cgroup was made or removed below a live kubelet's root")
	}
	for _, want := range []string{
		"podu1 pids.max: the kubelet is about to resize or delete this pod",
		"podnew : a kubelet works below this root", "podleft : a kubelet works below this root",
	} {
		if !strings.Contains(reasons(p), want) {
			t.Errorf("reasons lack %q:\n%s", want, reasons(p))
		}
	}
}

func TestSettles(t *testing.T) {
	tree := node(1)
	f := kubeletTree(t, tree)
	now := time.Unix(0, 0)
	m := memoryAt(&now)
	o := Options{Adopt: true, Settle: 2 * time.Minute, Kubelet: &Kubelet{Pods: map[string]PodState{"u0": {}}}}
	weight := f.groups["/kubepods/burstable"].files
	drift := func(after time.Duration, value string) {
		now = now.Add(after)
		if value != "" {
			weight["cpu.weight"] = value
		}
		if _, _, err := pass(tree, f, o, m); err != nil {
			t.Fatal(err)
		}
	}
	drift(0, "5")
	drift(time.Minute, "")
	if weight["cpu.weight"] != "5" {
		t.Fatal("mended before it had settled")
	}
	drift(0, "79") // the kubelet's own tick mends it
	drift(time.Second, "5")
	drift(90*time.Second, "")
	if weight["cpu.weight"] != "5" {
		t.Fatal("a difference that was gone in between counted as lasting")
	}
	drift(31*time.Second, "")
	if weight["cpu.weight"] != "79" {
		t.Error("not mended after two minutes")
	}
}

func TestAboveAndOutside(t *testing.T) {
	file := map[string]string{"pids.max": "5"}
	for _, tt := range []struct {
		cg     cgroups.Cgroup
		reason string
	}{
		{cgroups.Cgroup{Path: "/", Level: cgroups.LevelReserved, Files: file}, "never sets limits of the root"},
		{cgroups.Cgroup{Path: "/init.scope", Level: cgroups.LevelReserved, Files: file}, "never touches /init.scope"},
		{cgroups.Cgroup{Path: "/user.slice", Level: cgroups.LevelReserved, Files: file}, "never touches /user.slice"},
		{cgroups.Cgroup{Path: "/user.slice/user-0.slice", Level: cgroups.LevelReserved, Files: file}, "never touches /user.slice"},
		{cgroups.Cgroup{Path: "/system.slice", Level: cgroups.LevelReserved, Files: file}, "systemd manages this cgroup"},
		{cgroups.Cgroup{Path: "/tools", Level: cgroups.LevelReserved, Files: file}, "kqos itself runs in /tools/cron"},
	} {
		f := newFake()
		f.enable(f.groups["/"], "pids")
		f.groups["/"].files["cgroup.subtree_control"] = "cpu cpuset memory pids"
		if tt.cg.Path != "/" {
			f.add(tt.cg.Path, true)
		}
		if tt.cg.Path == "/user.slice/user-0.slice" {
			f.enable(f.groups[tt.cg.Path], "pids")
		}
		o := Options{Adopt: true, SystemdRuns: true, CreateReserved: true, Self: []string{"/tools/cron"}}
		p, _, err := pass(cgroups.Tree{Version: 2, Cgroups: []cgroups.Cgroup{tt.cg}}, f, o, nil)
		if err != nil || len(f.writes) != 0 || !strings.Contains(reasons(p), tt.reason) {
			t.Errorf("%s: %v, writes %v, reasons %q, want %q", tt.cg.Path, err, f.writes, reasons(p), tt.reason)
		}
	}
}

// A cgroupRoot in what systemd manages: not even a controller is handed down
// there behind its back.
func TestBelowWhatSystemdManages(t *testing.T) {
	for top, reason := range map[string]string{
		"/system.slice": "systemd manages this cgroup", "/user.slice": "never touches /user.slice", "/init.scope": "never touches /init.scope",
	} {
		f := newFake()
		f.groups["/"].files["cgroup.subtree_control"] = "cpu cpuset memory pids"
		f.add(top, false)
		f.add(top+"/agent.service", false)
		tree := cgroups.Tree{Version: 2, Cgroups: []cgroups.Cgroup{{Path: top + "/agent.service/kubepods", Level: cgroups.LevelNode, Files: map[string]string{"pids.max": "5"}}}}
		p, _, err := pass(tree, f, Options{SystemdRuns: true, Adopt: true}, nil)
		if err != nil || len(f.writes) != 0 || !strings.Contains(reasons(p), reason) {
			t.Errorf("%s: %v, writes %v, %s", top, err, f.writes, reasons(p))
		}
	}
}

// hybrid is a host whose pids controller is in the other hierarchy.
type hybrid struct{ *fake }

func (h hybrid) ReadFile(at, file string) (string, error) {
	if strings.HasPrefix(file, "pids.") {
		return "", errors.New("controller pids is in the v2 hierarchy of this hybrid host")
	}
	return h.fake.ReadFile(at, file)
}

// What a host lacks is told once, and the rest is done.
func TestMissingControllers(t *testing.T) {
	f := newFake()
	f.groups["/"].files["cgroup.controllers"] = "cpu memory"
	tree := node(3)
	for i := range tree.Cgroups {
		tree.Cgroups[i].Files["hugetlb.2MB.max"] = "0"
	}
	p, err := Make(tree, hybrid{f}, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	result := p.Execute(t.Context(), hybrid{f}, quiet())
	if len(result.Errors) > 0 || f.groups[podPath].files["cpu.weight"] != "4" {
		t.Errorf("%v, cpu.weight %s", result.Errors, f.groups[podPath].files["cpu.weight"])
	}
	want := []string{
		"this host offers no controller hugetlb: its files are left out",
		"controller pids is in the v2 hierarchy of this hybrid host: its files are left out",
	}
	slices.Sort(p.Notes)
	slices.Sort(want)
	if diff := cmp.Diff(want, p.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestCreateReserved(t *testing.T) {
	tree := cgroups.Tree{Version: 2, Cgroups: []cgroups.Cgroup{
		{Path: "/kube", Level: cgroups.LevelReserved, Files: map[string]string{"pids.max": "5"}},
	}}
	f := newFake()
	p, _, err := pass(tree, f, Options{}, nil)
	if err != nil || f.ops != 0 || !strings.Contains(reasons(p), "--create-reserved makes it") {
		t.Errorf("%v, %d operations, %s", err, f.ops, reasons(p))
	}
	if _, _, err = pass(tree, f, Options{CreateReserved: true}, nil); err != nil || f.groups["/kube"] == nil {
		t.Errorf("not made: %v", err)
	}
	if got := f.groups["/"].files["cgroup.subtree_control"]; got != "cpu cpuset memory pids" {
		t.Errorf("controllers %q: the kubelet's check would still fail", got)
	}
}

func TestUnknownValuesAreNeverWritten(t *testing.T) {
	tree := node(0)
	tree.Cgroups[2].Unknown = map[string]string{"cpu.weight": "not all pods are known"}
	f := kubeletTree(t, node(0))
	f.groups["/kubepods/burstable"].files["cpu.weight"] = "4000"
	if _, _, err := pass(tree, f, Options{Adopt: true}, nil); err != nil || len(f.writes) != 0 {
		t.Errorf("%v, writes %v", err, f.writes)
	}
}
