package cli

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/inspect"
	"github.com/kqos/kqos/internal/kubelet"
)

// fullReport is a look at a node of pods with two containers each.
func fullReport(pods int) *inspect.Report {
	n, d := int64(4096), time.Second
	usage := inspect.Usage{CPU: &d, Memory: &n, Peak: &n, PIDs: &n, Throttled: &d, Periods: &n, ThrottledPeriods: &n, OOMKills: &n, Pressure: map[string]float64{"cpu": 0, "memory": 12}}
	r := &inspect.Report{Cgroups: []inspect.Cgroup{{Path: "/kubepods.slice", Level: cgroups.LevelNode, Usage: usage}}}
	for p := range pods {
		ref := &cgroups.PodRef{Namespace: "shop", Name: fmt.Sprintf("pod-%d", p), UID: fmt.Sprintf("%08d", p)}
		path := fmt.Sprintf("/kubepods.slice/kubepods-pod%08d.slice", p)
		r.Cgroups = append(r.Cgroups, inspect.Cgroup{Path: path, Level: cgroups.LevelPod, Pod: ref, Usage: usage})
		for c := range 2 {
			id := fmt.Sprintf("%056d%08d", p, c)
			r.Cgroups = append(r.Cgroups, inspect.Cgroup{Path: path + "/cri-containerd-" + id + ".scope", Level: cgroups.LevelContainer, Pod: ref, Container: "app", ContainerID: id, Usage: usage})
		}
	}
	return r
}

// BenchmarkLive is what the live view does with a look at a node of 500 pods with
// two containers each, on a screen of 50 lines.
func BenchmarkLive(b *testing.B) {
	for _, by := range []string{"name", "cpu"} {
		b.Run("by-"+by, func(b *testing.B) {
			o := &inspectOptions{sortBy: by, interval: time.Hour}
			l := newLiveView(o, true, nil)
			next, _ := l.Update(tea.WindowSizeMsg{Width: 160, Height: 53})
			s, report := &survey{node: &node{config: &kubelet.Config{}}}, fullReport(500)
			for b.Loop() {
				next, _ = next.Update(lookMsg{seen: o.result(s, report)})
				if view := next.View(); len(view.Content) < 50*60 {
					b.Fatal(view.Content)
				}
			}
		})
	}
}
