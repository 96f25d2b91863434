package apply

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/kqos/kqos/internal/cgroups"
)

func TestLoweringMemoryKillsNobody(t *testing.T) {
	limit := func(to string) cgroups.Tree {
		return cgroups.Tree{Version: 2, Cgroups: []cgroups.Cgroup{
			{Name: []string{"kubepods"}, Path: "/kubepods", Level: cgroups.LevelNode, Files: map[string]string{"memory.max": to}},
		}}
	}
	for _, tt := range []struct {
		name        string
		options     Options
		reclaimable bool
		max         string
		kills       int
		complaint   string
	}{
		{"plain", Options{}, false, "max", 0, "--squeeze"},
		{"squeeze works", Options{Squeeze: true}, true, "209715200", 0, ""},
		{"allow-oom", Options{AllowOOM: true}, false, "209715200", 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake()
			if _, _, err := pass(limit("max"), f, Options{}, nil); err != nil {
				t.Fatal(err)
			}
			g := f.groups["/kubepods"]
			g.files["memory.current"] = "314572800"
			if tt.reclaimable {
				g.files["reclaimable"] = "yes"
			}
			p, result, err := pass(limit("209715200"), f, tt.options, nil)
			if err != nil {
				t.Fatal(err)
			}
			said := reasons(p)
			for _, e := range result.Errors {
				said += e.Error()
			}
			if g.files["memory.max"] != tt.max || f.oomKills != tt.kills || g.files["memory.high"] != "max" {
				t.Errorf("memory.max %s, high %s, %d kills; want %s, max, %d", g.files["memory.max"], g.files["memory.high"], f.oomKills, tt.max, tt.kills)
			}
			if (said == "") != (tt.complaint == "") || !strings.Contains(said, tt.complaint) {
				t.Errorf("said %q, want %q", said, tt.complaint)
			}
		})
	}
}

// Use that grows between planning and writing is noticed.
func TestLookRightBefore(t *testing.T) {
	f := newFake()
	if _, _, err := pass(node(1), f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	tree := node(1)
	tree.Cgroups[0].Files["memory.max"] = "209715200"
	f.groups["/kubepods"].files["memory.current"] = "1000"
	p, err := Make(tree, f, Options{}, nil)
	if err != nil || len(p.Steps) != 1 {
		t.Fatalf("%v, %v", err, p.Changes())
	}
	if p.Steps[0].Changes[0].Use != "1000" {
		t.Errorf("the plan shows use %q", p.Steps[0].Changes[0].Use)
	}
	f.groups["/kubepods"].files["memory.current"] = "314572800"
	result := p.Execute(t.Context(), f, quiet())
	if len(result.Errors) != 1 || f.oomKills != 0 || f.groups["/kubepods"].files["memory.max"] != "1073741824" {
		t.Errorf("errors %v, kills %d", result.Errors, f.oomKills)
	}
}

func TestLoweringOthers(t *testing.T) {
	f := newFake()
	if _, _, err := pass(node(1), f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	pod := f.groups["/kubepods/burstable/podu0"]
	tree := node(1)
	tree.Cgroups[3].Files["pids.max"] = "10"
	pod.files["pids.current"] = "50"
	if p, _, err := pass(tree, f, Options{}, nil); err != nil || pod.files["pids.max"] != "100" || !strings.Contains(reasons(p), "50 in use") {
		t.Errorf("pids: %v, max %s, %s", err, pod.files["pids.max"], reasons(p))
	}
	pod.files["pids.current"] = "10"
	if _, _, err := pass(tree, f, Options{}, nil); err != nil || pod.files["pids.max"] != "10" {
		t.Errorf("pids within: %v, max %s", err, pod.files["pids.max"])
	}

	tree.Cgroups[3].Files["hugetlb.2MB.max"] = "2097152"
	pod.files["hugetlb.2MB.max"], pod.files["hugetlb.2MB.current"] = "max", "4194304"
	f.groups["/"].files["cgroup.controllers"] += " hugetlb"
	if p, _, err := pass(tree, f, Options{}, nil); err != nil || pod.files["hugetlb.2MB.max"] != "max" || !strings.Contains(reasons(p), "4194304 in use") {
		t.Errorf("hugetlb: %v, max %s, %s", err, pod.files["hugetlb.2MB.max"], reasons(p))
	}
	delete(tree.Cgroups[3].Files, "hugetlb.2MB.max")

	tree.Cgroups[3].Files["cpuset.cpus"] = "0-1"
	pod.files["cpuset.cpus"] = "0-3"
	f.add("/kubepods/burstable/podu0/c", true)
	f.enable(f.groups["/kubepods/burstable/podu0/c"], "cpuset")
	f.groups["/kubepods/burstable/podu0/c"].files["cpuset.cpus"] = "3"
	_, result, err := pass(tree, f, Options{}, nil)
	if err != nil || pod.files["cpuset.cpus"] != "0-3" || len(result.Errors) != 1 || !strings.Contains(result.Errors[0].Error(), "/c below it has 3") {
		t.Errorf("cpuset: %v, %v, cpus %s", err, result.Errors, pod.files["cpuset.cpus"])
	}
}

// refusing is a v1 host: a memory limit below use is answered with words, as
// the library does.
type refusing struct {
	*fake
	use  int
	with error
}

func (r refusing) ReadFile(at, file string) (string, error) {
	if file == "memory/memory.usage_in_bytes" {
		return strconv.Itoa(r.use), nil
	}
	return r.fake.ReadFile(at, file)
}

func (r refusing) Set(cg *cgroups.Cgroup, files map[string]string) error {
	for file, value := range files {
		if n, err := strconv.Atoi(value); kernelRefuses(file) && err == nil && n < r.use {
			return r.with
		}
		r.groups[cg.Path].files[file] = value
	}
	return nil
}

// A tier gets what is in use, as the kubelet does; kubepods and a pod keep what
// they have. The message is ours, not the library's.
func TestRefusedMemoryLimit(t *testing.T) {
	const file = "memory/memory.limit_in_bytes"
	for level, want := range map[cgroups.Level]string{
		cgroups.LevelQoS: "314572800", cgroups.LevelNode: "1073741824", cgroups.LevelPod: "1073741824",
	} {
		f := newFake()
		f.add("/kubepods", true).files[file] = "1073741824"
		f.offers = append(f.offers, "memory")
		tree := cgroups.Tree{Version: 1, Cgroups: []cgroups.Cgroup{
			{Path: "/kubepods", Level: level, Files: map[string]string{file: "209715200"}},
		}}
		host := refusing{f, 314572800, errors.New("unable to set memory limit")}
		// Without it a pod's limit below use is not even tried.
		p, err := Make(tree, host, Options{AllowOOM: level == cgroups.LevelPod}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := p.Execute(t.Context(), host, quiet())
		if got := f.groups["/kubepods"].files[file]; got != want {
			t.Errorf("%s: limit %s, want %s", level, got, want)
		}
		want := file + " of cgroup /kubepods: 314572800 in use, more than the new limit 209715200, and the kernel can't reclaim it (EBUSY): end or shrink"
		if len(r.Errors) != 1 || !strings.HasPrefix(r.Errors[0].Error(), want) || strings.Contains(r.Errors[0].Error(), "unable to set") {
			t.Errorf("%s: %v", level, r.Errors)
		}
	}
}

// What fails for another reason says so, however much is in use.
func TestFailedMemoryLimit(t *testing.T) {
	const file = "memory/memory.limit_in_bytes"
	f := newFake()
	f.add("/kubepods", true).files[file] = "1073741824"
	f.offers = append(f.offers, "memory")
	tree := cgroups.Tree{Version: 1, Cgroups: []cgroups.Cgroup{
		{Path: "/kubepods", Level: cgroups.LevelQoS, Files: map[string]string{file: "209715200"}},
	}}
	host := refusing{f, 314572800, &os.PathError{Op: "write", Path: file, Err: syscall.EROFS}}
	p, err := Make(tree, host, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	result := p.Execute(t.Context(), host, quiet())
	if len(result.Errors) != 1 || !errors.Is(result.Errors[0], syscall.EROFS) || f.groups["/kubepods"].files[file] != "1073741824" {
		t.Errorf("%v, limit %s", result.Errors, f.groups["/kubepods"].files[file])
	}
}
