package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/qos"
)

type classifyOptions struct {
	pods   podFlags
	node   nodeFlags
	output outputFlags
	expect string
}

func newClassify(a *app) *cobra.Command {
	o := &classifyOptions{}
	cmd := &cobra.Command{
		Use:   "classify [FILE|FOLDER|-]...",
		Short: "QoS class of pods, why, and what the kubelet makes of it",
		Long: `classify answers, for every pod and every template that would create one: its
QoS class and the smallest change that would raise it, its effective requests
and limits, the oom_score_adj of each container, who qualifies for exclusive
CPUs, and the pod's own cgroup under both drivers and both cgroup versions.

Pods are read as the API server would store them; --static reads them as the
kubelet reads a file of its static pod folder, --as-written as they stand. A
KubeletConfiguration, a Machine, and LimitRange, RuntimeClass and PriorityClass
objects among the inputs are used.`,
		Example: `  kqos classify pod.yaml
  kqos classify testdata/node
  kubectl get pods -A -o json | kqos classify - --as-written
  kqos classify deploy/ -R --expect Guaranteed
  kqos classify pod.yaml --topology synthetic:memory=64Gi -o jsonpath='{.items[*].containers[*].oomScoreAdj}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, args)
		},
	}
	o.pods.add(cmd)
	o.node.add(cmd)
	o.output.add(cmd, "csv")
	cmd.Flags().StringVar(&o.expect, "expect", "", "exit 1 if a pod is of a lower class: Guaranteed or Burstable")
	completeWith(cmd, "expect", string(corev1.PodQOSGuaranteed), string(corev1.PodQOSBurstable))
	return cmd
}

func (o *classifyOptions) run(ctx context.Context, a *app, args []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	expected := corev1.PodQOSClass(o.expect)
	if o.expect != "" {
		if err := checkWord("expect", o.expect, string(corev1.PodQOSGuaranteed), string(corev1.PodQOSBurstable)); err != nil {
			return err
		}
	}
	if err := o.pods.any(ctx, a, args, &o.node); err != nil {
		return err
	}
	o.node.refusalsWarn = true
	pods, n, err := o.pods.stream(ctx, a, args, &o.node)
	if err != nil {
		return err
	}
	// Both versions are answered, so a refusal of cgroup v1 is beside the point.
	for _, f := range n.config.Validate(2) {
		a.logger().Warn("the kubelet would refuse the configuration: " + f.Message + meant(f))
	}
	c, err := newClassifier(n, !o.output.text() && o.output.format != "name" && o.output.format != "csv")
	if err != nil {
		return err
	}
	out, err := o.report(a, n, pods.reading)
	if err != nil {
		return err
	}
	lower := false
	for in := range pods.batches() {
		items := c.classify(a, in)
		if err := out.add(items); err != nil {
			return err
		}
		lower = lower || slices.ContainsFunc(items, func(p podClassification) bool { return qos.Rank(p.QOSClass) < qos.Rank(expected) })
	}
	if err := out.end(); err != nil {
		return err
	}
	c.tell(a)
	if len(pods.errors) > 0 {
		return errors.Join(pods.errors...)
	}
	if pods.pods == 0 {
		a.logger().Warn("no pods among the inputs")
	}
	if lower {
		return errFound
	}
	return nil
}
