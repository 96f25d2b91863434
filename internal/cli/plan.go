package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kqos/kqos/internal/admission"
	"github.com/kqos/kqos/internal/apply"
	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/cgroups/driver"
	"github.com/kqos/kqos/internal/inspect"
	"github.com/kqos/kqos/internal/manifest"
)

// planOptions are what apply and diff share: which tree is wanted.
type planOptions struct {
	pods       podFlags
	node       nodeFlags
	output     outputFlags
	containers bool
	replicas   bool
	complete   bool
	podsFrom   string
	// stateDir is where the kubelet's checkpoint files are; empty for the host's.
	stateDir string
}

func (o *planOptions) add(cmd *cobra.Command) {
	o.pods.add(cmd)
	o.node.add(cmd)
	o.node.defaultsMatter = true
	o.output.add(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.containers, "containers", false, "also the cgroups of containers, which a runtime makes on a real node")
	f.BoolVar(&o.replicas, "replicas", false, "count a template as many times as its object asks for")
	f.BoolVar(&o.complete, "pods-complete", false, "the pods given are all of the node's, as those of a kubelet's /pods are known to be; without it, sums over pods are left alone")
	f.StringVar(&o.podsFrom, "pods-from", "auto", "where pods come from: files, kubelet (its PodsAPI), auto (the kubelet if one runs and no pods are named)")
	completeWith(cmd, "pods-from", "auto", "files", "kubelet")
}

// wanted is the tree that is asked for.
type wanted struct {
	tree cgroups.Tree
	in   *podInput
	node *node
	pods []*corev1.Pod
	// at is where the kubelet's managers place their containers; nil where they
	// place none.
	at cgroups.Placement
	// fromKubelet says that the pods are those that the node's kubelet reports.
	fromKubelet bool
	// given are the pods before those were left out that the kubelet refuses.
	given []*corev1.Pod
	// held is a CPU manager checkpoint that tells what marked containers run on.
	held string
	// listed is the list among the inputs that a kubelet answered; nil for none.
	listed *manifest.List
	// incomplete says why the pods may not be all, "" where they are.
	incomplete string
	// notes tell what of the tree was left out, and why.
	notes []string
	// err joins what could not be planned; the tree holds the rest.
	err error
}

// checkPodsFrom refuses what --pods-from does not take.
func (o *planOptions) checkPodsFrom() error {
	return checkWord("pods-from", o.podsFrom, "auto", "files", "kubelet")
}

// want computes the tree from pods, configuration and machine.
func (o *planOptions) want(ctx context.Context, a *app, args []string) (*wanted, error) {
	if err := o.output.check(); err != nil {
		return nil, err
	}
	in, n, err := o.pods.loadAny(ctx, a, args, &o.node)
	if err != nil {
		return nil, err
	}
	if err := refuse(a, n); err != nil {
		return nil, err
	}
	w := &wanted{in: in, node: n, pods: o.expand(in), incomplete: o.incomplete(n, in), listed: kubeletList(in.Workloads)}
	if err := o.askKubelet(ctx, w, args); err != nil {
		return nil, err
	}
	if !w.fromKubelet && in.reading == admission.Static && o.onHost(n) {
		w.nameStatic(inspect.HostOwners(o.node.hostRoot))
	}
	if err := o.place(a, w); err != nil {
		return nil, err
	}
	o.desire(w)
	return w, nil
}

// nameStatic gives the static pods without a UID that of the pod that the
// kubelet has made of the same manifest: what it hashes is known to it alone.
func (w *wanted) nameStatic(owners *inspect.Owners) {
	for _, pod := range w.pods {
		derived := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
		admission.EnsureUID(derived, admission.Static)
		if pod.UID != derived.UID {
			continue
		}
		if uid := owners.StaticUID(or(pod.Namespace, corev1.NamespaceDefault), pod.Name); uid != "" {
			pod.UID = types.UID(uid)
		}
	}
}

// desire computes the tree for what is known of the pods and where they are
// placed.
func (o *planOptions) desire(w *wanted) {
	on, _ := cgroups.NewNode(w.node.config, w.node.onNode(), w.node.driver)
	on.Version, on.Containers, on.Incomplete = w.node.cgroupVersion, o.containers, w.incomplete
	var err error
	w.tree, err = cgroups.Desired(on, w.pods, w.at)
	w.err = errors.Join(err, w.in.err())
}

// refuse ends the command where the kubelet would not start. What the host
// decides besides, doctor judges.
func refuse(a *app, n *node) error {
	findings, ofHost := startFindings(n)
	for _, f := range ofHost {
		a.logger().Warn("the kubelet would refuse this: " + f.Message)
	}
	return refusal(n.config.Source, findings)
}

// expand lists the pods, each template once or as often as it asks for.
func (o *planOptions) expand(in *podInput) []*corev1.Pod {
	var pods []*corev1.Pod
	for i := range in.Workloads {
		w := &in.Workloads[i]
		pods = append(pods, w.Pod)
		if o.replicas {
			pods = append(pods, furtherReplicas(w, in.reading)...)
		}
	}
	return pods
}

// furtherReplicas are the second pod of a template and all after it, with names
// and UIDs of their own.
func furtherReplicas(w *manifest.Workload, reading admission.Reading) []*corev1.Pod {
	var pods []*corev1.Pod
	for i := int32(1); i < w.Replicas; i++ {
		pod := w.Pod.DeepCopy()
		pod.Name, pod.UID = fmt.Sprintf("%s-%d", w.Pod.Name, i), ""
		admission.EnsureUID(pod, reading)
		pods = append(pods, pod)
	}
	return pods
}

// onHost tells whether the plan is about this host, so that its cgroups are to
// be read.
func (o *planOptions) onHost(n *node) bool {
	return !n.elsewhere && driver.HostVersion(o.node.hostRoot) == n.cgroupVersion
}

// compare plans against this host, a captured one, or against nothing where the
// node is described in files.
func (o *planOptions) compare(ctx context.Context, a *app, w *wanted, options apply.Options) (*cgroupPlan, error) {
	if !o.onHost(w.node) {
		if !w.node.elsewhere && driver.HostVersion(o.node.hostRoot) == 0 {
			a.logger().Warn(fmt.Sprintf("no cgroups are mounted at %s: the plan begins with nothing", filepath.Join(o.node.hostRoot, "sys/fs/cgroup")))
		}
		return newPlan(w, cgroups.Diff(w.tree, nil), nil, nil), nil
	}
	host, err := o.open(w.node)
	if err != nil {
		return newPlan(w, nil, nil, nil), err
	}
	defer host.Close()
	if options.Self, err = host.Self(); err == nil {
		err = o.consult(ctx, a, w, host, options)
	}
	if err != nil {
		return newPlan(w, nil, nil, nil), err
	}
	plan, err := apply.Make(w.tree, host, options, nil)
	return newPlan(w, plan.Changes(), plan.Withheld, plan.Notes), err
}

// print shows a plan. What the host can't do at all fails nothing, so it is told.
func (o *planOptions) print(a *app, plan *cgroupPlan) error {
	for _, note := range plan.Notes {
		a.logger().Warn(note)
	}
	return o.output.print(a, plan.view())
}

// readable is a tree of cgroups to plan against.
type readable interface {
	apply.Reader
	// Self lists the cgroups of this process, where the tree is this host's.
	Self() ([]string, error)
	Close()
}

// open opens the cgroups that the plan is compared with.
func (o *planOptions) open(n *node) (readable, error) {
	here, err := driver.Here(o.node.hostRoot)
	if err != nil {
		return nil, err
	}
	if here {
		return driver.Open(driver.Options{Kind: n.driver, Version: n.cgroupVersion, HostRoot: o.node.hostRoot})
	}
	tree, err := inspect.Open(o.node.hostRoot)
	if err != nil {
		return nil, err
	}
	return capturedTree{tree}, nil
}

// consult fills in what only the host tells: whether the pods are all, what
// containers that are there run on, and how a runtime named their cgroups.
func (o *planOptions) consult(ctx context.Context, a *app, w *wanted, host apply.Reader, options apply.Options) error {
	if w.incomplete == "" && w.listed != nil && !o.complete && !w.fromKubelet {
		if err := w.confirm(host); err != nil {
			return err
		}
	}
	if w.incomplete != "" && options.Kubelet == nil {
		// Where kqos made all pod cgroups, it knows all pods.
		own, err := apply.OwnTree(w.tree, host, options.Prune)
		if err != nil {
			return err
		}
		if own {
			w.incomplete = ""
		}
	}
	if err := o.stick(a, w, host); err != nil {
		return err
	}
	o.desire(w)
	return o.meetContainers(ctx, w, host)
}
