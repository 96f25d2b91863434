package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/admission"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/manifest"
	"github.com/kqos/kqos/internal/parallel"
	"github.com/kqos/kqos/internal/qos"
)

// podInput is what the pod flags brought, each pod read as they say.
type podInput struct {
	*manifest.Input
	reading admission.Reading
	// notes are what is to be told of each workload, in their order.
	notes [][]string
}

// load reads pods and, with the configuration and the machine that stand among
// them, the node. Errors of single inputs are left in the result, to be told after all else; see err.
func (p *podFlags) load(ctx context.Context, a *app, args []string, nodes *nodeFlags) (*podInput, *node, error) {
	if len(args)+len(p.files)+len(p.more) == 0 {
		return nil, nil, errors.New("no pods given: name files or folders, or - for stdin")
	}
	return p.loadAny(ctx, a, args, nodes)
}

// loadAny is load for commands that have an answer for no pods too.
func (p *podFlags) loadAny(ctx context.Context, a *app, args []string, nodes *nodeFlags) (*podInput, *node, error) {
	if err := p.check(args); err != nil {
		return nil, nil, err
	}
	if nodes.config == "-" && slices.Contains(p.files, "-") {
		return nil, nil, errors.New("--config - and pods from - can't both read stdin")
	}
	in := &podInput{reading: admission.Reading(p.reading())}
	in.Input = manifest.Read(p.files, manifest.Options{
		Stdin: a.In, Recursive: p.recursive, Strict: p.strict, Static: in.reading == admission.Static,
	})
	in.Workloads = append(in.Workloads, p.more...)
	for _, w := range in.Warnings {
		a.logger().Warn(w.Error())
	}
	config, err := only(in.KubeletConfigs, "KubeletConfiguration", "--config", nodes.config != "")
	if err != nil {
		return nil, nil, err
	}
	machine, err := only(in.Machines, "Machine", "--topology", nodes.topology != "")
	if err != nil {
		return nil, nil, err
	}
	nodes.nodes = in.Nodes
	n, err := nodes.load(ctx, a, config, machine)
	if err != nil {
		return nil, nil, errors.Join(in.err(), err)
	}
	in.admit(a, n.config.Gates)
	return in, n, nil
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
func (in *podInput) admit(a *app, g kubelet.Gates) {
	objects := admission.Objects{LimitRanges: in.LimitRanges, RuntimeClasses: in.RuntimeClasses, PriorityClasses: in.PriorityClasses}
	in.notes = make([][]string, len(in.Workloads))
	unnamed := make([]string, len(in.Workloads))
	parallel.Each(len(in.Workloads), func(i int) {
		pod := in.Workloads[i].Pod
		written := pod.Status.QOSClass
		in.notes[i] = admission.Admit(pod, in.reading, objects, g)
		in.notes[i] = append(in.notes[i], statusNotes(pod, written, g)...)
		for _, name := range qos.Overflows(pod, g) {
			in.notes[i] = append(in.notes[i], fmt.Sprintf("%s: the sum of the pod is beyond the int64 that the kubelet counts in, which reads something else: write smaller quantities", name))
		}
		unnamed[i] = admission.EnsureUID(pod, in.reading)
	})
	count, first := 0, ""
	for i := range in.Workloads {
		for _, note := range in.notes[i] {
			a.logger().Warn(workloadName(&in.Workloads[i]) + ": " + note)
		}
		if unnamed[i] != "" {
			count, first = count+1, unnamed[i]
			in.notes[i] = append(in.notes[i], unnamed[i])
		}
	}
	if count > 0 {
		a.logger().Warn(fmt.Sprintf("%s (%d of %d pods)", first, count, len(in.Workloads)))
	}
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
