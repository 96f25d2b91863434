package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kqos/kqos/internal/admission"
	"github.com/kqos/kqos/internal/kubelet"
)

// Options say how scenarios are run.
type Options struct {
	// Explain adds hints and explanations.
	Explain bool
	// Minor is the version of the kubelet; 0 means Latest.
	Minor kubelet.Minor
	// Progress, if not nil, is told the number of finished scenarios, from any
	// goroutine.
	Progress func(done int)
}

// RunAll runs scenarios on all cores; nil ones have no result. Results are in
// the order of the scenarios. The error, if any, is the context's.
func RunAll(ctx context.Context, scenarios []*Scenario, o Options) ([]*Result, error) {
	results := make([]*Result, len(scenarios))
	var next, done atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(scenarios)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(scenarios) {
					return
				}
				if scenarios[i] != nil {
					results[i] = Run(scenarios[i], o)
				}
				if n := int(done.Add(1)); o.Progress != nil {
					o.Progress(n)
				}
			}
		})
	}
	workers.Wait()
	return results, ctx.Err()
}

// Run plays one scenario. The pods of its events are not changed.
func Run(s *Scenario, o Options) *Result {
	p := &player{options: o, result: &Result{Name: s.Name}}
	config, stop := p.load(s.Kubelet)
	if stop == nil {
		p.spec = Spec{Config: config, Machine: s.Machine.Machine, Preferred: s.Machine.Preferred}
		var err error
		p.node, err = NewNode(p.spec, nil)
		stop = startError(err)
	}
	if stop != nil {
		failed := StartFailed(s.Name, stop, o)
		failed.Warnings = p.result.Warnings
		return failed
	}
	return p.play(s.Events)
}

// player is a scenario under way.
type player struct {
	options Options
	// read says that the pods are as the kubelet sees them already.
	read   bool
	spec   Spec
	node   *Node
	result *Result
	before State
	uids   map[string]types.UID
}

// Play runs events on a node that stands and gives the result its name. Other
// than those of a scenario, its pods are taken as they are.
func Play(n *Node, name string, events []Event, o Options) *Result {
	p := &player{options: o, read: true, spec: n.spec, node: n, result: &Result{Name: name}}
	return p.play(events)
}

// StartFailed is the result of a node that does not start.
func StartFailed(name string, stop *StartError, o Options) *Result {
	r := &Result{Name: name, StartError: stop}
	if stop.Chance {
		r.Arbitrary = []string{chanceResult}
	}
	if o.Explain {
		r.Explain = explainStart(stop)
	}
	return r
}

func (p *player) play(events []Event) *Result {
	r := p.result
	r.Reserved, r.Allocatable = p.node.Reserved().String(), p.node.Allocatable().String()
	p.before, p.uids = p.node.State(), map[string]types.UID{}
	initial := p.before
	r.Initial = &initial
	for _, e := range events {
		result, goOn := p.step(e)
		r.Events = append(r.Events, result)
		if !goOn {
			break
		}
	}
	r.Files, r.Arbitrary = p.node.Files(), p.node.Arbitrary()
	return r
}

// step plays one event; goOn is false when the kubelet is gone after it.
func (p *player) step(e Event) (result EventResult, goOn bool) {
	switch e.Op {
	case OpAdd:
		return p.add(e)
	case OpRemove:
		result = EventResult{Op: OpRemove, Pod: e.PodName}
		if !p.node.Remove(p.uids[e.PodName]) {
			result.Message = "not active"
		}
		p.settle(&result)
		return result, true
	}
	return p.restart(e)
}

func (p *player) add(e Event) (EventResult, bool) {
	pod := p.prepare(e.Pod)
	p.uids[e.PodName] = pod.UID
	a := p.node.Add(pod)
	result := eventOf(OpAdd, e.PodName, &a)
	if p.options.Explain {
		result.Hints = hintLists(a.Verdict.Rounds)
		result.Explain = p.explain(&a)
	}
	if result.Panic != "" {
		return result, false
	}
	p.settle(&result)
	return result, true
}

// prepare is the pod as the API server stores it, with its name for a UID where
// it has none.
func (p *player) prepare(pod *corev1.Pod) *corev1.Pod {
	if p.read {
		return pod
	}
	pod = pod.DeepCopy()
	if pod.Namespace == "" {
		pod.Namespace = corev1.NamespaceDefault
	}
	if pod.UID == "" {
		pod.UID = types.UID(pod.Name)
	}
	admission.Default(pod, p.spec.Config.Gates)
	return pod
}

// settle notes the node's state after an event.
func (p *player) settle(result *EventResult) {
	after := p.node.State()
	if reflect.DeepEqual(after, p.before) {
		result.Unchanged = true
		return
	}
	p.before, result.After = after, &after
}

func (p *player) restart(e Event) (EventResult, bool) {
	result := EventResult{Op: OpRestart}
	stop := (*StartError)(nil)
	if e.Kubelet != nil {
		p.spec.Config, stop = p.load(e.Kubelet)
	}
	if e.Machine != nil {
		p.spec.Machine, p.spec.Preferred = e.Machine.Machine, e.Machine.Preferred
	}
	var again []Admission
	if stop == nil {
		var err error
		again, err = p.node.Restart(p.spec, e.Files, e.PluginsFirst)
		stop = startError(err)
	}
	if stop != nil {
		result.StartError = stop
		p.node.chance.result = p.node.chance.result || stop.Chance
		if p.options.Explain {
			result.Explain = explainStart(stop)
		}
		return result, false
	}
	for i := range again {
		a := &again[i]
		one := eventOf(OpReadmit, a.Pod.Name, a)
		if p.options.Explain {
			one.Explain = p.explain(a)
		}
		result.Readmit = append(result.Readmit, one)
		if one.Panic != "" {
			result.Panic = one.Panic
			return result, false
		}
	}
	p.settle(&result)
	return result, true
}

func startError(err error) *StartError {
	stop, _ := errors.AsType[*StartError](err)
	return stop
}

// load reads a KubeletConfiguration of a scenario.
func (p *player) load(raw json.RawMessage) (*kubelet.Config, *StartError) {
	if raw == nil {
		raw = json.RawMessage("{}")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return nil, &StartError{Stage: StageDecode, Message: fmt.Sprintf("kubelet: must be an object of KubeletConfiguration fields: %v", err)}
	}
	for name, value := range map[string]string{"apiVersion": `"kubelet.config.k8s.io/v1beta1"`, "kind": `"KubeletConfiguration"`} {
		if _, ok := fields[name]; !ok {
			fields[name] = json.RawMessage(value)
		}
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return nil, &StartError{Stage: StageDecode, Message: err.Error()}
	}
	config, err := kubelet.Load(kubelet.LoadOptions{File: "scenario", Data: data, Minor: p.options.Minor})
	var failed *kubelet.LoadError
	switch {
	case errors.As(err, &failed) && failed.Field == "featureGates":
		return nil, &StartError{Stage: StageFeatureGates, Message: err.Error()}
	case err != nil:
		return nil, &StartError{Stage: StageDecode, Message: err.Error()}
	}
	p.result.Warnings = append(p.result.Warnings, config.Warnings...)
	return config, nil
}
