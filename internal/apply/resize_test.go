package apply

import (
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/internal/cgroups"
)

const podPath = "/kubepods/burstable/podu0"

type files = map[string]string

// onePod is a wanted tree of one pod, those of its containers and those of the
// cgroups above that have files.
func onePod(want map[string]files, version int) cgroups.Tree {
	tree := cgroups.Tree{Version: version}
	for _, at := range []string{"/kubepods", "/kubepods/burstable", podPath, podPath + "/a", podPath + "/b", podPath + "/c"} {
		files, ok := want[at]
		if !ok {
			continue
		}
		cg := cgroups.Cgroup{Path: at, Level: cgroups.LevelQoS, Files: files}
		switch {
		case at == "/kubepods":
			cg.Level = cgroups.LevelNode
		case at == podPath:
			cg.Level, cg.Pod = cgroups.LevelPod, &cgroups.PodRef{UID: "u0"}
		case path.Dir(at) == podPath:
			cg.Level, cg.Pod, cg.Container = cgroups.LevelContainer, &cgroups.PodRef{UID: "u0"}, path.Base(at)
		}
		tree.Cgroups = append(tree.Cgroups, cg)
	}
	return tree
}

// between plans from one state to another.
func between(have, want map[string]files, version int) *Plan {
	live := cgroups.LiveTree{}
	for at, files := range have {
		live[at] = cgroups.Live{Exists: true, Marked: true, Files: files, PageSize: 4096}
	}
	p := &Plan{Tree: onePod(want, version), Live: live, memory: NewMemory()}
	p.Steps = p.order(p.index(), cgroups.Diff(p.Tree, live))
	return p
}

func lines(p *Plan) []string {
	var all []string
	for _, s := range p.Steps {
		line := string(s.Op) + " " + strings.TrimPrefix(s.Cgroup.Path, "/kubepods/burstable/")
		for _, c := range s.Changes {
			if c.File != "" {
				line += " " + c.File + "=" + c.To
			}
		}
		all = append(all, line)
	}
	return all
}

// TestResizeOrder has the order of the kubelet's doPodResizeAction.
func TestResizeOrder(t *testing.T) {
	for _, tt := range []struct {
		name       string
		have, want map[string]files
		version    int
		steps      []string
	}{
		{
			name: "all grows: limit, request, containers; memory before cpu",
			have: map[string]files{
				podPath:        {"memory.max": "200", "cpu.max": "20000 100000", "cpu.weight": "4"},
				podPath + "/a": {"memory.max": "100", "cpu.max": "10000 100000", "cpu.weight": "17"},
				podPath + "/b": {"memory.max": "100", "cpu.max": "10000 100000", "cpu.weight": "17"},
			},
			want: map[string]files{
				podPath:        {"memory.max": "400", "cpu.max": "40000 100000", "cpu.weight": "8"},
				podPath + "/a": {"memory.max": "200", "cpu.max": "20000 100000", "cpu.weight": "30"},
				podPath + "/b": {"memory.max": "200", "cpu.max": "20000 100000", "cpu.weight": "30"},
			},
			steps: []string{
				"update podu0 memory.max=400", "update podu0/a memory.max=200", "update podu0/b memory.max=200",
				"update podu0 cpu.max=40000 100000", "update podu0 cpu.weight=8",
				"update podu0/a cpu.max=20000 100000 cpu.weight=30", "update podu0/b cpu.max=20000 100000 cpu.weight=30",
			},
		},
		{
			name: "all shrinks: containers, request, limit",
			have: map[string]files{
				podPath:        {"memory.max": "400", "memory.min": "300", "cpu.max": "40000 100000", "cpu.weight": "8"},
				podPath + "/a": {"memory.max": "200", "cpu.max": "20000 100000", "cpu.weight": "30"},
			},
			want: map[string]files{
				podPath:        {"memory.max": "200", "memory.min": "100", "cpu.max": "20000 100000", "cpu.weight": "4"},
				podPath + "/a": {"memory.max": "100", "cpu.max": "10000 100000", "cpu.weight": "17"},
			},
			steps: []string{
				"update podu0/a memory.max=100", "update podu0 memory.max=200 memory.min=100",
				"update podu0/a cpu.max=10000 100000 cpu.weight=17", "update podu0 cpu.weight=4", "update podu0 cpu.max=20000 100000",
			},
		},
		{
			name: "memory grows while cpu shrinks",
			have: map[string]files{
				podPath:        {"memory.max": "200", "cpu.max": "40000 100000"},
				podPath + "/a": {"memory.max": "100", "cpu.max": "20000 100000"},
			},
			want: map[string]files{
				podPath:        {"memory.max": "400", "cpu.max": "20000 100000"},
				podPath + "/a": {"memory.max": "200", "cpu.max": "10000 100000"},
			},
			steps: []string{
				"update podu0 memory.max=400", "update podu0/a memory.max=200",
				"update podu0/a cpu.max=10000 100000", "update podu0 cpu.max=20000 100000",
			},
		},
		{
			name: "one container gives to another: the one that shrinks first",
			have: map[string]files{podPath: {"memory.max": "300"}, podPath + "/a": {"memory.max": "100"}, podPath + "/b": {"memory.max": "200"}},
			want: map[string]files{podPath: {"memory.max": "300"}, podPath + "/a": {"memory.max": "200"}, podPath + "/b": {"memory.max": "100"}},
			steps: []string{
				"update podu0/b memory.max=100", "update podu0/a memory.max=200",
			},
		},
		{
			name: "a limit where there was none is a lower one",
			have: map[string]files{podPath: {"cpu.max": "max 100000"}, podPath + "/a": {"cpu.max": "50000 100000"}, podPath + "/b": {"cpu.max": "max 100000"}},
			want: map[string]files{podPath: {"cpu.max": "30000 100000"}, podPath + "/a": {"cpu.max": "10000 100000"}, podPath + "/b": {"cpu.max": "20000 100000"}},
			steps: []string{
				"update podu0/a cpu.max=10000 100000", "update podu0/b cpu.max=20000 100000", "update podu0 cpu.max=30000 100000",
			},
		},
		{
			name: "v1, with another period", version: 1,
			have: map[string]files{
				podPath:        {"cpu/cpu.cfs_quota_us": "40000", "cpu/cpu.cfs_period_us": "100000", "cpu/cpu.shares": "204"},
				podPath + "/a": {"cpu/cpu.cfs_quota_us": "40000", "cpu/cpu.cfs_period_us": "100000"},
			},
			want: map[string]files{
				podPath:        {"cpu/cpu.cfs_quota_us": "60000", "cpu/cpu.cfs_period_us": "200000", "cpu/cpu.shares": "307"},
				podPath + "/a": {"cpu/cpu.cfs_quota_us": "60000", "cpu/cpu.cfs_period_us": "200000"},
			},
			steps: []string{
				"update podu0 cpu/cpu.shares=307",
				"update podu0/a cpu/cpu.cfs_period_us=200000 cpu/cpu.cfs_quota_us=60000",
				"update podu0 cpu/cpu.cfs_period_us=200000 cpu/cpu.cfs_quota_us=60000",
			},
		},
		{
			name: "what is above the pod grows before it and shrinks after it, what it is made of last",
			have: map[string]files{
				"/kubepods": {"memory.max": "1000"}, "/kubepods/burstable": {"memory.max": "900"},
				podPath: {"memory.max": "100", "pids.max": "10"},
			},
			want: map[string]files{
				"/kubepods": {"memory.max": "2000"}, "/kubepods/burstable": {"memory.max": "800"},
				podPath: {"memory.max": "200", "pids.max": "5"}, podPath + "/a": {"memory.max": "150", "pids.max": "3"},
			},
			steps: []string{
				"update /kubepods memory.max=2000", "update podu0 memory.max=200", "create podu0/a", "update podu0/a memory.max=150 pids.max=3",
				"update podu0 pids.max=5", "update /kubepods/burstable memory.max=800",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.steps, lines(between(tt.have, tt.want, tt.version))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// At no moment of an apply is a container's limit above its pod's, or a pod's
// above its tier's, if it is so neither before nor after.
func TestNoChildAboveItsParent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.IntRange(1, 2).Draw(t, "version")
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3, rapid.ID[string]).Draw(t, "containers")
		have, want := drawLimits(t, "before", names, version), drawLimits(t, "after", names, version)
		now := map[string]files{}
		for at, f := range have {
			now[at] = maps.Clone(f)
		}
		p := between(have, want, version)
		for _, s := range p.Steps {
			if now[s.Cgroup.Path] == nil {
				now[s.Cgroup.Path] = files{}
			}
			for _, c := range s.Changes {
				if c.File != "" {
					now[s.Cgroup.Path][c.File] = c.To
				}
			}
			for at, f := range now {
				for _, resource := range []string{"memory", "cpu"} {
					above, ok := now[path.Dir(at)]
					if ok && len(f) > 0 && limitOf(resource, f) > limitOf(resource, above) {
						t.Fatalf("after %q %s of %s is above its parent's:\n%s", lines(&Plan{Steps: []Step{s}}), resource, at, strings.Join(lines(p), "\n"))
					}
				}
			}
		}
		for at, f := range want {
			for file, value := range f {
				if !cgroups.Equal(file, value, now[at][file]) {
					t.Fatalf("%s of %s is %s in the end, want %s", file, at, now[at][file], value)
				}
			}
		}
	})
}

// drawLimits draws the limits of a node's one pod as the kubelet would set them:
// a pod has the sum of its containers', or none if one of them has none.
func drawLimits(t *rapid.T, when string, names []string, version int) map[string]files {
	state := map[string]files{}
	sums := map[string]int{}
	for _, resource := range []string{"memory", "cpu"} {
		for _, name := range names {
			// Thousandths of a CPU, or pages.
			n := rapid.SampledFrom([]int{0, 10, 20, 50, 400}).Draw(t, fmt.Sprintf("%s %s of %s", when, resource, name))
			limit(state, podPath+"/"+name, resource, n, version)
			if n == 0 || sums[resource] < 0 {
				sums[resource] = -1
				continue
			}
			sums[resource] += n
		}
		limit(state, podPath, resource, max(sums[resource], 0), version)
	}
	tier := 0
	if sums["memory"] > 0 {
		tier = sums["memory"] + rapid.IntRange(0, 100).Draw(t, when+" room in the tier")
	}
	limit(state, "/kubepods/burstable", "memory", tier, version)
	limit(state, "/kubepods", "memory", 0, version)
	return state
}

// largestPage is the largest of Linux: amounts that differ by less are the same
// limit on some kernel, and so no change.
const largestPage = 64 << 10

// limit sets one in the files of a version; 0 is none.
func limit(state map[string]files, at, resource string, n, version int) {
	if state[at] == nil {
		state[at] = files{}
	}
	f := state[at]
	switch {
	case resource == "memory" && version == 2:
		f["memory.max"] = or(n*largestPage, "max")
	case resource == "memory":
		f["memory/memory.limit_in_bytes"] = or(n*largestPage, "-1")
	case version == 2:
		f["cpu.max"] = or(n*100, "max") + " 100000"
	default:
		f["cpu/cpu.cfs_quota_us"], f["cpu/cpu.cfs_period_us"] = or(n*100, "-1"), "100000"
	}
}

func or(n int, none string) string {
	if n == 0 {
		return none
	}
	return strconv.Itoa(n)
}
