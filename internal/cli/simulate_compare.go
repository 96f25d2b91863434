package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/render"
	"github.com/kqos/kqos/internal/simulate"
)

// policyComparison is what --compare prints.
type policyComparison struct {
	typeMeta
	// Pods is how many were tried.
	Pods  int                `json:"pods"`
	Items []simulate.Outcome `json:"items"`
}

// runCompare admits the same pods under every policy and option.
func (o *simulateOptions) runCompare(ctx context.Context, a *app, spec simulate.Spec, events []simulate.Event) error {
	var pods []*corev1.Pod
	for i := range events {
		pods = append(pods, events[i].Pod)
	}
	progress := a.progress("policies")
	outcomes, err := simulate.Compare(ctx, spec, pods, progress.report)
	progress.end()
	if err != nil {
		return err
	}
	found := policyComparison{kind("SimulationComparison"), len(pods), outcomes}
	if err := o.output.print(a, compareView(found)); err != nil {
		return err
	}
	// As without --compare, a pod refused by the node as configured is exit 1.
	if !slices.ContainsFunc(outcomes, func(out simulate.Outcome) bool {
		return out.Configured && out.StartError == nil && len(out.Refused) == 0
	}) {
		return errFound
	}
	return nil
}

func compareView(found policyComparison) view {
	v := view{object: found}
	for i := range found.Items {
		v.names = append(v.names, variantName(&found.Items[i].Variant))
	}
	v.text = func(w io.Writer, s render.Style) error { return printComparison(w, s, found) }
	return v
}

func variantName(v *simulate.Variant) string {
	words := []string{v.TopologyPolicy}
	if v.TopologyScope != "" {
		words = append(words, v.TopologyScope)
	}
	return strings.Join(append(append(words, v.CPUPolicy), v.CPUOptions...), "/")
}

// printComparison shows what starts; what does not is told in a line for each
// reason.
func printComparison(w io.Writer, s render.Style, found policyComparison) error {
	t := render.Table{Columns: []render.Column{
		{Name: "CURRENT"},
		{Name: "TOPOLOGY"},
		{Name: "SCOPE"},
		{Name: "CPU"},
		{Name: "OPTIONS"},
		{Name: "ADMITTED", Right: true},
		{Name: "CROSS-NUMA", Right: true},
		{Name: "CROSS-LLC", Right: true},
		{Name: "CPUS-LEFT", Right: true},
		{Name: "REFUSED"},
		{Name: "WHY", Wide: true},
	}}
	failed := map[string]int{}
	var reasons []string
	shown := found.Items
	if !s.Wide {
		shown = simplest(found.Items)
	}
	for i := range found.Items {
		if stop := found.Items[i].StartError; stop != nil {
			if failed[stop.Message]++; failed[stop.Message] == 1 {
				reasons = append(reasons, stop.Message)
			}
		}
	}
	for i := range shown {
		if out := &shown[i]; out.StartError == nil {
			t.Rows = append(t.Rows, outcomeRow(out, found.Pods, s))
		}
	}
	if err := table(t)(w, s); err != nil {
		return err
	}
	for _, reason := range reasons {
		if _, err := fmt.Fprintf(w, "\nThe kubelet does not start under %d of %d choices: %s\n", failed[reason], len(found.Items), reason); err != nil {
			return err
		}
	}
	return nil
}

// simplest keeps, of the choices under one topology policy that come out alike,
// the one with the fewest options, and the one configured.
func simplest(outcomes []simulate.Outcome) []simulate.Outcome {
	least := map[string]int{}
	key := func(o *simulate.Outcome) string {
		return fmt.Sprint(o.TopologyPolicy, o.TopologyScope, o.CPUPolicy, o.Admitted, o.Refused, o.CrossNUMA, o.CrossLLC, o.CPUsLeft)
	}
	for i := range outcomes {
		o := &outcomes[i]
		if best, ok := least[key(o)]; !ok || len(o.CPUOptions) < len(outcomes[best].CPUOptions) {
			least[key(o)] = i
		}
	}
	var kept []simulate.Outcome
	for i := range outcomes {
		if least[key(&outcomes[i])] == i || outcomes[i].Configured {
			kept = append(kept, outcomes[i])
		}
	}
	return kept
}

func outcomeRow(o *simulate.Outcome, pods int, s render.Style) []string {
	mark := ""
	if o.Configured {
		mark = "*"
	}
	left := strconv.Itoa(o.CPUsLeft)
	if o.CPUPolicy == kubelet.CPUPolicyNone {
		left = "-"
	}
	admitted := fmt.Sprintf("%d/%d", o.Admitted, pods)
	if o.Admitted < pods {
		admitted = s.Paint(render.Red, admitted)
	}
	return []string{
		mark, o.TopologyPolicy, or(o.TopologyScope, "-"), o.CPUPolicy, or(strings.Join(o.CPUOptions, ","), "-"), admitted,
		strconv.Itoa(o.CrossNUMA), strconv.Itoa(o.CrossLLC), left, or(shortList(o.Refused), "-"), o.Why,
	}
}

// shortList names the first few.
func shortList(names []string) string {
	const most = 3
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s (+%d more)", strings.Join(names[:most], ","), more)
	}
	return strings.Join(names, ",")
}
