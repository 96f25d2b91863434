package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/admission"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/manifest"
	"github.com/kqos/kqos/internal/nodeapi"
	"github.com/kqos/kqos/internal/parallel"
	"github.com/kqos/kqos/internal/qos"
	quantities "github.com/kqos/kqos/internal/quantity"
)

// podInput is what the pod flags brought, each pod read as they say.
type podInput struct {
	*manifest.Input
	reading admission.Reading
	// notes are what is to be told of each workload, in their order.
	notes [][]string
}

// podStream brings pods of the inputs some thousands at a time.
type podStream struct {
	*manifest.Stream
	a       *app
	more    []manifest.Workload
	reading admission.Reading
	gates   kubelet.Gates
	// errors are those of inputs so far; they make the exit code 2 once all others
	// have been answered.
	errors []error
	pods   int
	// unnamed counts the pods without a UID, of which told is said.
	unnamed int
	told    string
}

// load reads pods and, with the configuration and the machine that stand among
// them, the node. Errors of single inputs are left in the result, to be told after all else; see err.
func (p *podFlags) load(ctx context.Context, a *app, args []string, nodes *nodeFlags) (*podInput, *node, error) {
	if err := p.any(ctx, a, args, nodes); err != nil {
		return nil, nil, err
	}
	return p.loadAny(ctx, a, args, nodes)
}

// any sees to it that there are pods: where none are named, those that the
// kubelet of this host has, as they stand.
func (p *podFlags) any(ctx context.Context, a *app, args []string, nodes *nodeFlags) error {
	if len(args)+len(p.files)+len(p.more) > 0 {
		return nil
	}
	const wanted = "no pods given: name files or folders, or - for stdin"
	if nodes.topology != "" || p.static {
		return errors.New(wanted)
	}
	if k, err := nodeapi.FindKubelet(nodes.hostRoot); k == nil || err != nil {
		return errors.New(wanted)
	}
	pods, err := nodeapi.Pods(ctx, nodeapi.PodsSocket(nodes.hostRoot))
	if err != nil {
		return fmt.Errorf("%s; this host's kubelet does not tell its own: %w", wanted, err)
	}
	a.notice(fmt.Sprintf("no pods given: the %d of this host's kubelet are taken, as they stand", len(pods)))
	p.asWritten = true
	for i, pod := range pods {
		source := manifest.Source{File: "kubelet", Document: i + 1, Kind: "Pod", Name: pod.Name}
		p.more = append(p.more, manifest.Workload{Source: source, Pod: pod, Replicas: 1})
	}
	return nil
}

// loadAny is load for commands that have an answer for no pods too.
func (p *podFlags) loadAny(ctx context.Context, a *app, args []string, nodes *nodeFlags) (*podInput, *node, error) {
	s, n, err := p.stream(ctx, a, args, nodes)
	if err != nil {
		return nil, nil, err
	}
	in := &podInput{Input: &s.Found, reading: s.reading}
	for part := range s.batches() {
		in.Workloads = append(in.Workloads, part.Workloads...)
		in.Errors = append(in.Errors, part.Errors...)
		in.notes = append(in.notes, part.notes...)
	}
	return in, n, nil
}

// stream reads the node and gets the pods ready to be read.
func (p *podFlags) stream(ctx context.Context, a *app, args []string, nodes *nodeFlags) (*podStream, *node, error) {
	if err := p.check(args); err != nil {
		return nil, nil, err
	}
	if nodes.config == "-" && slices.Contains(p.files, "-") {
		return nil, nil, errors.New("--config - and pods from - can't both read stdin")
	}
	s := &podStream{a: a, more: p.more, reading: admission.Reading(p.reading())}
	s.Stream = manifest.Open(p.files, manifest.Options{
		Stdin: a.In, Recursive: p.recursive, Strict: p.strict, Static: s.reading == admission.Static,
	})
	config, err := only(s.Found.KubeletConfigs, "KubeletConfiguration", "--config", nodes.config != "")
	if err != nil {
		return nil, nil, err
	}
	machine, err := only(s.Found.Machines, "Machine", "--topology", nodes.topology != "")
	if err != nil {
		return nil, nil, err
	}
	nodes.nodes = s.Found.Nodes
	n, err := nodes.load(ctx, a, config, machine)
	if err != nil {
		for range s.batches() { // for what is wrong with the inputs
		}
		return nil, nil, errors.Join(append(s.errors, err)...)
	}
	s.gates = n.config.Gates
	return s, n, nil
}

// batches admits the pods, and tells what is to be told of them.
func (s *podStream) batches() iter.Seq[*podInput] {
	return func(yield func(*podInput) bool) {
		for found := range s.Batches() {
			if !yield(s.admit(found)) {
				return
			}
		}
		if len(s.more) > 0 && !yield(s.admit(&manifest.Input{Workloads: s.more})) {
			return
		}
		if s.unnamed > 0 {
			s.a.logger().Warn(fmt.Sprintf("%s (%d of %s)", s.told, s.unnamed, quantities.Count(s.pods, "pod")))
		}
	}
}

// only is the one document of its kind among the inputs, nil where there is
// none or a flag names another.
func only(docs []manifest.Document, kind, flag string, given bool) (*manifest.Document, error) {
	switch {
	case given || len(docs) == 0:
		return nil, nil
	case len(docs) > 1:
		return nil, fmt.Errorf("%s: document %d and %s: document %d are both a %s: name one with %s",
			docs[0].File, docs[0].Number, docs[1].File, docs[1].Number, kind, flag)
	}
	return &docs[0], nil
}

// admit does to each pod what happens before the kubelet sees it.
func (s *podStream) admit(found *manifest.Input) *podInput {
	for _, w := range found.Warnings {
		s.a.logger().Warn(w.Error())
	}
	for _, e := range found.Errors {
		s.errors = append(s.errors, e)
	}
	objects := admission.Objects{LimitRanges: s.Found.LimitRanges, RuntimeClasses: s.Found.RuntimeClasses, PriorityClasses: s.Found.PriorityClasses}
	in := &podInput{Input: found, reading: s.reading, notes: make([][]string, len(found.Workloads))}
	unnamed := make([]string, len(in.Workloads))
	parallel.Each(len(in.Workloads), func(i int) {
		pod := in.Workloads[i].Pod
		written := pod.Status.QOSClass
		in.notes[i] = admission.Admit(pod, s.reading, objects, s.gates)
		in.notes[i] = append(in.notes[i], statusNotes(pod, written, s.gates)...)
		for _, name := range qos.Overflows(pod, s.gates) {
			in.notes[i] = append(in.notes[i], fmt.Sprintf("%s: the sum of the pod is beyond the int64 that the kubelet counts in, which reads something else: write smaller quantities", name))
		}
		unnamed[i] = admission.EnsureUID(pod, s.reading)
	})
	s.pods += len(in.Workloads)
	for i := range in.Workloads {
		for _, note := range in.notes[i] {
			s.a.logger().Warn(workloadName(&in.Workloads[i]) + ": " + note)
		}
		if unnamed[i] != "" {
			s.unnamed++
			s.told = or(s.told, unnamed[i])
			in.notes[i] = append(in.notes[i], unnamed[i])
		}
	}
	return in
}

// err joins the errors of single inputs; they make the exit code 2 once all
// others have been answered.
func (in *podInput) err() error {
	var all []error
	for _, e := range in.Errors {
		all = append(all, e)
	}
	return errors.Join(all...)
}

// workloadName places a message about a pod.
func workloadName(w *manifest.Workload) string {
	return strings.TrimSuffix(fmt.Sprintf("%s: document %d: %s %s", w.Source.File, w.Source.Document, w.Source.Kind, w.Source.Name), " ")
}

// statusNotes tells a status.qosClass that the spec contradicts: it decides
// where the status is believed and is lost where creation wipes it.
func statusNotes(pod *corev1.Pod, written corev1.PodQOSClass, g kubelet.Gates) []string {
	class := qos.ComputeClass(pod, g)
	switch {
	case written == "" || written == class:
		return nil
	case pod.Status.QOSClass == written:
		return []string{fmt.Sprintf("status.qosClass %s contradicts the spec, which means %s: the kubelet believes the status", written, class)}
	}
	return []string{fmt.Sprintf("status.qosClass %s contradicts the spec: creation wipes the status and computes %s (--as-written believes it)", written, class)}
}
