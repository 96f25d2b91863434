package cli

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/admission"
	"github.com/kqos/kqos/internal/simulate"
)

// runPods admits the pods of the inputs on the node of the flags.
func (o *simulateOptions) runPods(ctx context.Context, a *app, args []string) error {
	files, err := o.states.load()
	if err != nil {
		return err
	}
	if o.pods.more, err = shorthand(o.shorthand); err != nil {
		return err
	}
	in, n, err := o.pods.load(ctx, a, args, &o.node)
	if err != nil {
		return err
	}
	if files == nil && o.node.kubelet != nil {
		a.notice("the node starts empty: --state-dir " + o.node.kubeletDir() + " starts it with the pods that this host's kubelet placed")
	}
	events, err := o.events(in)
	if err != nil {
		return err
	}
	spec, err := o.spec(n)
	if err != nil {
		return err
	}
	if o.compare {
		return errors.Join(o.runCompare(ctx, a, spec, events), in.err())
	}
	result, err := o.play(spec, files, events, simulate.Options{Explain: o.explain, Minor: n.config.Gates.Minor})
	if err == nil {
		err = o.states.save(a, result.Files)
	}
	return o.finish(a, []simulation{newSimulation(result, spec.Machine, events)}, false, errors.Join(in.err(), err))
}

// spec is the node to simulate.
func (o *simulateOptions) spec(n *node) (simulate.Spec, error) {
	if n.machine == nil {
		return simulate.Spec{}, errors.New("the machine is unknown: name one with --topology, such as --topology synthetic:sockets=2,numa=2,cores=32,memory=128Gi")
	}
	if err := simulate.CheckMachine(n.config.MemoryManagerPolicy, n.machine); err != nil {
		return simulate.Spec{}, fmt.Errorf("--topology: %w", err)
	}
	return simulate.Spec{
		Config: n.config, Machine: n.machine, Dir: o.states.dir, CgroupVersion: n.cgroupVersion, KeepUnknown: true,
	}, nil
}

// play starts the node and admits the pods. A kubelet that does not start is a
// result; one that refuses the checkpoint files given is an error as well.
func (o *simulateOptions) play(spec simulate.Spec, files simulate.Files, events []simulate.Event, options simulate.Options) (*simulate.Result, error) {
	const name = "pods"
	n, err := simulate.NewNode(spec, files)
	stop, failed := errors.AsType[*simulate.StartError](err)
	if !failed {
		result := simulate.Play(n, name, events, options)
		if o.fit {
			err = fit(n, result, events)
		}
		return result, err
	}
	result := simulate.StartFailed(name, stop, options)
	if files != nil && (stop.Stage == simulate.StageCPUStart || stop.Stage == simulate.StageMemoryStart) {
		return result, fmt.Errorf("--state-dir %s: %w", o.states.dir, err)
	}
	return result, nil
}

// events admit the workloads in their order.
func (o *simulateOptions) events(in *podInput) ([]simulate.Event, error) {
	var events []simulate.Event
	var errs []error
	seen := map[string]bool{}
	for i := range in.Workloads {
		w := &in.Workloads[i]
		for _, pod := range o.copies(w.Pod, int(w.Replicas), in.reading) {
			key := pod.Namespace + "/" + pod.Name
			if seen[key] || seen[string(pod.UID)] {
				errs = append(errs, fmt.Errorf("%s: the pod %s, or its UID, stands twice: a kubelet has it once", workloadName(w), key))
				continue
			}
			seen[key], seen[string(pod.UID)] = true, true
			events = append(events, simulate.Event{Op: simulate.OpAdd, Pod: pod, PodName: pod.Name})
		}
	}
	return events, errors.Join(errs...)
}

// copies are the pod itself, or with --replicas as many as its owner asks for,
// numbered like those of a StatefulSet.
func (o *simulateOptions) copies(pod *corev1.Pod, replicas int, reading admission.Reading) []*corev1.Pod {
	if !o.replicas || replicas == 1 {
		return []*corev1.Pod{pod}
	}
	var pods []*corev1.Pod
	for i := range replicas {
		c := pod.DeepCopy()
		c.Name, c.UID = fmt.Sprintf("%s-%d", pod.Name, i), ""
		admission.EnsureUID(c, reading)
		pods = append(pods, c)
	}
	return pods
}
