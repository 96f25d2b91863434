package apply

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A memory limit at or below use makes the kubelet refuse the whole resize; so
// it does here, in its words, whatever else the resize holds.
func TestRefusedResize(t *testing.T) {
	have := map[string]files{
		podPath:        {"memory.max": "409600", "memory.current": "204800", "cpu.weight": "4", "pids.max": "9"},
		podPath + "/a": {"memory.max": "409600", "memory.current": "102400", "cpu.weight": "17"},
	}
	for _, tt := range []struct {
		name, pod, container string
		options              Options
		want                 string
		writes               []string
	}{
		{"pod at its use", "204800", "102401", Options{}, "attempting to set pod memory limit (204800) below current usage (204800)", []string{"pids.max=5"}},
		{"container below its use", "204801", "98304", Options{}, `attempting to set container "a" memory limit (98304) below current usage (102400)`, []string{"pids.max=5"}},
		{"above use", "208896", "106496", Options{}, "", []string{"memory.max=106496", "memory.max=208896", "cpu.weight=8", "cpu.weight=30", "pids.max=5"}},
		{"allow-oom", "204800", "106496", Options{AllowOOM: true}, "", []string{"memory.max=106496", "memory.max=204800", "cpu.weight=8", "cpu.weight=30", "pids.max=5"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake()
			f.add("/kubepods", true)
			f.add("/kubepods/burstable", true)
			for _, at := range []string{podPath, podPath + "/a"} {
				g := f.add(at, true)
				f.enable(g, "cpu memory pids")
				maps.Copy(g.files, have[at])
			}
			f.groups[podPath].files["pids.current"] = "1"
			tree := onePod(map[string]files{
				podPath:        {"memory.max": tt.pod, "cpu.weight": "8", "pids.max": "5"},
				podPath + "/a": {"memory.max": tt.container, "cpu.weight": "30"},
			}, 2)
			p, result, err := pass(tree, f, tt.options, nil)
			if err != nil || len(result.Errors) > 0 {
				t.Fatal(err, result.Errors)
			}
			var wrote []string
			for _, w := range f.writes {
				if _, file, _ := strings.Cut(w, " "); !strings.HasPrefix(file, "cgroup.") {
					wrote = append(wrote, file)
				}
			}
			if diff := cmp.Diff(tt.writes, wrote); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			if (tt.want == "") != (len(p.Withheld) == 0) {
				t.Errorf("withheld: %s", reasons(p))
			}
			for _, w := range p.Withheld {
				if !strings.Contains(w.Reason, "cannot decrease memory limits: "+tt.want) {
					t.Errorf("%s %s: %s, want %s", w.Path, w.File, w.Reason, tt.want)
				}
			}
		})
	}
}

// After a failure the kubelet leaves the rest of a resize to the next; so does
// kqos, and goes on with other pods.
func TestFailedResizeEnds(t *testing.T) {
	f := newFake()
	tree := node(2)
	if _, _, err := pass(tree, f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{podPath, "/kubepods/burstable/podu1"} {
		f.groups[at].files["memory.max"], f.groups[at].files["cpu.weight"] = "4096", "1"
	}
	f.writes, f.err = nil, errors.New("refused")
	n := f.ops
	f.failAt = n + 1
	f.before = func(_, at string) {
		if at == podPath {
			f.failAt = f.ops + 1
		}
	}
	_, result, err := pass(tree, f, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/kubepods/burstable/podu1 memory.max=10000000", "/kubepods/burstable/podu1 cpu.weight=4"}
	if diff := cmp.Diff(want, f.writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if len(result.Errors) != 2 || !strings.Contains(result.Errors[1].Error(), "left for the next apply, since the resize of its pod failed before") {
		t.Errorf("errors %v", result.Errors)
	}
	f.before = nil
	converges(t, f, tree)
}
