package cli

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/inspect"
	"github.com/kqos/kqos/internal/inspect/doctor"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// observer tells Prometheus of each look, and the log of what appears and goes.
type observer struct {
	stateDir string
	log      *slog.Logger
	metrics  *inspect.Metrics
	// told are the findings of the last look.
	told map[string]bool
	// invalid tells of each checkpoint file whether the kubelet would refuse it,
	// as of the time judged.
	invalid map[string]bool
	judged  time.Time
}

// judgeAgain is how often checkpoint files are judged: a start is simulated with
// each.
const judgeAgain = time.Minute

func newObserver(o *inspectOptions, a *app) *observer {
	return &observer{stateDir: o.stateDir, log: a.writes, told: map[string]bool{}}
}

func (o *observer) register(r prometheus.Registerer) (err error) {
	o.metrics, err = inspect.NewMetrics(r)
	return err
}

// saw takes in one look. A nil observer tells nobody.
func (o *observer) saw(ctx context.Context, s *survey, r *inspect.Report, took time.Duration) {
	if o == nil {
		return
	}
	if ctx.Err() != nil {
		o.metrics.Failed()
		return
	}
	if time.Since(o.judged) > judgeAgain {
		o.invalid, o.judged = judgeStates(ctx, s, o.stateDir), time.Now()
	}
	look := inspect.Look{
		Report: r, Refused: refusedPods(s.Pods), Invalid: o.invalid, Partial: s.Hierarchy.Partial(s.Root) != "", Took: took,
	}
	o.metrics.Looked(look)
	now := findings(&look)
	for _, text := range slices.Sorted(maps.Keys(now)) {
		if !o.told[text] {
			o.log.Warn(text)
		}
	}
	for _, text := range slices.Sorted(maps.Keys(o.told)) {
		if !now[text] {
			o.log.Info("gone: " + text)
		}
	}
	o.told = now
}

// findings are a look's in words.
func findings(l *inspect.Look) map[string]bool {
	now := map[string]bool{}
	for i := range l.Report.Cgroups {
		c := &l.Report.Cgroups[i]
		for _, d := range c.Drift {
			now["drift: "+c.Path+" "+d.File+" reads "+or(d.Have, "nothing")+", wanted "+d.Want+" ("+d.Why+"); written by "+d.Writer] = true
		}
	}
	for _, leak := range l.Report.Leaks {
		now["leaked: "+leak.Path+": "+leak.Why] = true
	}
	for _, intruder := range l.Report.Intruders {
		now["intruder: "+intruder.Comm+" may run on CPUs "+intruder.CPUs.String()+" of "+intruder.Owner] = true
	}
	for file, invalid := range l.Invalid {
		if invalid {
			now["the kubelet would not start with its "+file+": kqos doctor says why"] = true
		}
	}
	return now
}

// refusedPods counts the pods that the kubelet refused for want of a place, by
// its reason.
//
// kubelet v1.37: pkg/kubelet/lifecycle/predicate.go,
// cm/topologymanager/topology_manager.go, cm/cpumanager/policy_static.go.
func refusedPods(pods []*corev1.Pod) map[string]int {
	refused := map[string]int{}
	for _, pod := range pods {
		reason := pod.Status.Reason
		if pod.Status.Phase == corev1.PodFailed && (strings.HasPrefix(reason, allocatable.OutOf) ||
			oneOf(reason, topologymanager.ReasonTopologyAffinity, topologymanager.ReasonSMTAlignment, topologymanager.ReasonUnexpected)) {
			refused[reason]++
		}
	}
	return refused
}

// judgeStates tells of each checkpoint file whether the kubelet would start with
// it; one that can't be judged is left out.
func judgeStates(ctx context.Context, s *survey, dir string) map[string]bool {
	facts, err := doctor.Read(ctx, doctor.Options{
		Root: s.Root, Config: s.node.config, Driver: s.node.driver, CgroupVersion: s.node.cgroupVersion,
		Machine: s.node.machine, Node: s.node.onNode(), StateDir: dir,
	})
	if err != nil {
		return nil
	}
	invalid := map[string]bool{}
	for id, file := range map[string]string{"cpu-state": kubelet.CPUManagerStateFile, "memory-state": kubelet.MemoryManagerStateFile} {
		checks, err := doctor.Choose(doctor.Checks(), []string{id}, nil)
		if err != nil {
			continue
		}
		for _, r := range doctor.Run(facts, checks) {
			if r.Status != doctor.Skip {
				invalid[file] = r.Status == doctor.Fail
			}
		}
	}
	return invalid
}
