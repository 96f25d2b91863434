package apply

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"

	"github.com/kqos/kqos/internal/cgroups"
)

// resized names the pod whose resize a change belongs to: memory and cpu of a
// pod that exists and of its containers, and containers that it lacks. It is ""
// for any other change.
func (p *Plan) resized(cg *cgroups.Cgroup, c cgroups.Change) string {
	pod := c.Path
	switch cg.Level {
	case cgroups.LevelPod:
	case cgroups.LevelContainer:
		pod = path.Dir(c.Path)
	default:
		return ""
	}
	if c.Op == cgroups.OpRemove || !p.Live[pod].Exists {
		return ""
	}
	if controller, _ := cgroups.SplitFile(c.File); p.Live[c.Path].Exists && controller != "memory" && controller != "cpu" {
		return ""
	}
	return pod
}

// resizes makes the steps of pods that exist and differ, pod by pod, as the
// kubelet resizes one: first memory, then cpu. Containers that are not there
// yet, which a kubelet leaves to the runtime, come last.
//
// kubelet v1.37: pkg/kubelet/kuberuntime/kuberuntime_manager.go doPodResizeAction
func (p *Plan) resizes(cgroup func(string) *cgroups.Cgroup, changes map[string][]cgroups.Change) []Step {
	var steps []Step
	for _, pod := range slices.Sorted(maps.Keys(changes)) {
		var fresh []cgroups.Change
		ofResource := map[string]map[string][]cgroups.Change{"memory": {}, "cpu": {}}
		for _, c := range changes[pod] {
			if !p.Live[c.Path].Exists {
				fresh = append(fresh, c)
				continue
			}
			controller, _ := cgroups.SplitFile(c.File)
			ofResource[controller][c.Path] = append(ofResource[controller][c.Path], c)
		}
		r := resize{plan: p, pod: pod, cgroup: cgroup}
		r.of("memory", ofResource["memory"])
		r.of("cpu", ofResource["cpu"])
		for _, c := range fresh {
			r.add("resize: a container that is made", []cgroups.Change{c})
		}
		steps = append(steps, r.steps...)
	}
	return steps
}

// resize gathers the steps of one pod.
type resize struct {
	plan   *Plan
	pod    string
	cgroup func(string) *cgroups.Cgroup
	steps  []Step
}

// of plans one resource. The limit of the pod grows before those of its
// containers and shrinks after them, so that none is ever above its pod; its
// request follows its limit up and goes before it down. Containers that shrink
// go before those that grow, so that their sum stays within the pod.
//
// The kubelet takes the quota -1, no limit, for less than any other, and would
// so limit a pod before its containers, which v1 refuses with EINVAL while one
// has more. Here no limit is the greatest.
func (r *resize) of(resource string, changes map[string][]cgroups.Change) {
	limit, request := splitRequest(resource, changes[r.pod])
	var shrinking, growing [][]cgroups.Change
	for _, at := range slices.Sorted(maps.Keys(changes)) {
		switch c := changes[at]; {
		case at == r.pod:
		case r.plan.direction(resource, c) < 0:
			shrinking = append(shrinking, c)
		default:
			growing = append(growing, c)
		}
	}
	up := func(c []cgroups.Change) bool { return r.plan.direction(resource, c) >= 0 }
	say := func(what string) string { return fmt.Sprintf("resize of %s: %s", resource, what) }
	if up(limit) {
		r.add(say("the pod's limit first, as it grows"), limit)
	}
	if up(request) {
		r.add(say("the pod's request before its containers, as it grows"), request)
	}
	for _, c := range shrinking {
		r.add(say("containers that shrink first"), c)
	}
	for _, c := range growing {
		r.add(say("containers that grow after those that shrink"), c)
	}
	if !up(request) {
		r.add(say("the pod's request after its containers, as it shrinks"), request)
	}
	if !up(limit) {
		r.add(say("the pod's limit last, as it shrinks"), limit)
	}
}

func (r *resize) add(stage string, changes []cgroups.Change) {
	if len(changes) == 0 {
		return
	}
	for i := range changes {
		changes[i].Stage = stage
	}
	last := len(r.steps) - 1
	if c := changes[0]; last >= 0 && c.Op == cgroups.OpUpdate && r.steps[last].Op == c.Op && r.steps[last].Cgroup.Path == c.Path && r.steps[last].Changes[0].Stage == stage {
		r.steps[last].Changes = append(r.steps[last].Changes, changes...)
		return
	}
	r.steps = append(r.steps, Step{
		Op: changes[0].Op, Cgroup: r.cgroup(changes[0].Path), Changes: changes, phase: resizing, resize: r.pod,
	})
}

// splitRequest takes the files of a pod's request from those of its limit. What
// protects memory is written together with a limit that changes.
//
// kubelet v1.37: kuberuntime_manager.go setPodCgroupConfig
func splitRequest(resource string, changes []cgroups.Change) (limit, request []cgroups.Change) {
	for _, c := range changes {
		switch path.Base(c.File) {
		case "cpu.weight", "cpu.shares", "memory.min", "memory.low":
			request = append(request, c)
		default:
			limit = append(limit, c)
		}
	}
	if resource == "memory" && len(limit) > 0 {
		return changes, nil
	}
	return limit, request
}

// direction tells whether the changes of one cgroup's resource give it more (1)
// or less (-1): by its limit, and where that stays by the first that differs.
func (p *Plan) direction(resource string, changes []cgroups.Change) int {
	if len(changes) == 0 {
		return 0
	}
	before := p.Live[changes[0].Path].Files
	after := maps.Clone(before)
	for _, c := range changes {
		after[c.File] = c.To
	}
	if d := cmp.Compare(limitOf(resource, after), limitOf(resource, before)); d != 0 {
		return d
	}
	for _, c := range changes {
		from, known := amount(c.From)
		to, wanted := amount(c.To)
		if d := cmp.Compare(to, from); known && wanted && d != 0 {
			return d
		}
	}
	return 0
}

// limitOf reads the limit of a resource out of control files: bytes of memory,
// or CPUs. Without one it is infinite.
func limitOf(resource string, files map[string]string) float64 {
	if resource == "memory" {
		for _, file := range []string{memoryMax, memoryMaxV1} {
			if limit, ok := amount(files[file]); ok {
				return limit
			}
		}
		return math.Inf(1)
	}
	if limit, ok := amount(files["cpu.max"]); ok {
		return limit
	}
	if limit, ok := amount(files["cpu/cpu.cfs_quota_us"] + " " + files["cpu/cpu.cfs_period_us"]); ok {
		return limit
	}
	return math.Inf(1)
}

// refusedResizes tells of each pod whose resize the kubelet refuses as a whole
// why it does: a memory limit would go to its use or below.
//
// kubelet v1.37: kuberuntime_manager.go validateMemoryResizeAction
func (p *Plan) refusedResizes(cgroup func(string) *cgroups.Cgroup, changes []cgroups.Change) map[string]string {
	refused := map[string]string{}
	for _, c := range changes {
		cg := cgroup(c.Path)
		pod := p.resized(cg, c)
		limit := c.File == memoryMax || c.File == memoryMaxV1
		if p.options.AllowOOM || pod == "" || refused[pod] != "" || c.From == "" || !limit || !lowers(c) {
			continue
		}
		if p.options.Squeeze && c.File == memoryMax {
			continue
		}
		whose := "pod"
		if cg.Level == cgroups.LevelContainer {
			whose = fmt.Sprintf("container %q", cg.Container)
		}
		use, known := amount(c.Use)
		to, _ := amount(c.To)
		why := ""
		switch {
		case !known:
			why = fmt.Sprintf("missing %s memory usage", whose)
		case use >= to:
			why = fmt.Sprintf("attempting to set %s memory limit (%s) below current usage (%s)", whose, c.To, c.Use)
		default:
			continue
		}
		way := "--squeeze lowers memory.high first, --allow-oom writes it all the same"
		if c.File == memoryMaxV1 {
			way = "--allow-oom lets the kernel decide"
		}
		refused[pod] = fmt.Sprintf("cannot decrease memory limits: %s: as the kubelet, kqos then resizes nothing of the pod; %s", why, way)
	}
	return refused
}
