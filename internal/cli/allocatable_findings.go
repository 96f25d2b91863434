package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/render"
	"github.com/kqos/kqos/internal/simulate"
)

// configValidation is the contract of --validate, and what stands in place of
// an answer when the kubelet would refuse the configuration.
type configValidation struct {
	typeMeta
	OK     bool              `json:"ok"`
	Source string            `json:"source,omitempty"`
	Errors []kubelet.Finding `json:"errors"`
}

// showFindings prints findings and makes the exit code: asked for with
// --validate they are what was looked for, else they keep the command from
// answering.
func (o *allocatableOptions) showFindings(a *app, source string, findings []kubelet.Finding) error {
	v := configValidation{typeMeta: kind("ConfigValidation"), OK: len(findings) == 0, Source: source, Errors: findings}
	if v.Errors == nil {
		v.Errors = []kubelet.Finding{}
	}
	if !o.validate && o.out.text() {
		return refusal(source, findings)
	}
	if err := o.out.print(a, validationView(v)); err != nil {
		return err
	}
	switch {
	case v.OK:
		return nil
	case o.validate:
		return errFound
	}
	return refusal(source, findings)
}

// showRefusal tells an error as a finding where it is the kubelet's about what
// the configuration says. A file that can't be read is no finding.
func (o *allocatableOptions) showRefusal(a *app, err error) error {
	var refused *kubelet.LoadError
	var unread *fs.PathError
	if errors.As(err, &unread) || !errors.As(err, &refused) {
		return err
	}
	return o.showFindings(a, "", []kubelet.Finding{refused.Finding()})
}

// refusal is one error a finding.
func refusal(source string, findings []kubelet.Finding) error {
	var all []error
	for _, f := range findings {
		text := f.Message
		if f.Field != "" {
			text = f.Field + ": " + text
		}
		if source != "" {
			text = source + ": " + text
		}
		all = append(all, errors.New(text+meant(f)+" (the kubelet would not start)"))
	}
	return errors.Join(all...)
}

func validationView(v configValidation) view {
	t := render.Table{Columns: []render.Column{{Name: "STAGE"}, {Name: "FIELD"}, {Name: "MESSAGE"}}}
	var names []string
	for _, f := range v.Errors {
		t.Rows = append(t.Rows, []string{string(f.Stage), f.Field, f.Message + meant(f)})
		names = append(names, f.Field)
	}
	text := table(t)
	if v.OK {
		text = func(w io.Writer, _ render.Style) error {
			_, err := fmt.Fprintln(w, "ok: the kubelet finds nothing to refuse")
			return err
		}
	}
	return view{object: v, names: names, csv: &t, text: text}
}

// findings are those of --validate: what needs the machine is asked only when
// one was named.
func (o *allocatableOptions) findings(n *node) []kubelet.Finding {
	if o.node.topology == "" && len(o.node.capacity) == 0 && !n.elsewhere {
		return slices.Concat(n.config.Refused, allocatable.Check(n.config, n.cgroupVersion), simulate.CheckPolicies(n.config, nil))
	}
	return distinct(slices.Concat(n.config.Refused, allocatable.CheckOn(n.config, n.onNode()), simulate.CheckPolicies(n.config, n.machine), n.enforcementFindings()))
}

// startFindings are those for which the kubelet would not start on the node.
// Swap and the cgroup version are the host's affair, which doctor judges.
func startFindings(n *node) (findings, ofHost []kubelet.Finding) {
	all := slices.Concat(allocatable.CheckOn(n.config, n.onNode()), simulate.CheckPolicies(n.config, n.machine), n.enforcementFindings())
	for _, f := range distinct(all) {
		if f.Field == "failSwapOn" || f.Field == "failCgroupV1" {
			ofHost = append(ofHost, f)
			continue
		}
		findings = append(findings, f)
	}
	return findings, ofHost
}

// distinct drops what two managers tell alike.
func distinct(findings []kubelet.Finding) []kubelet.Finding {
	var kept []kubelet.Finding
	for _, f := range findings {
		if !slices.ContainsFunc(kept, func(k kubelet.Finding) bool { return k.Message == f.Message }) {
			kept = append(kept, f)
		}
	}
	return kept
}

// reservedCPUs are those that no container gets exclusively: the list of the
// configuration, else those that the static policy chooses on the machine.
func (n *node) reservedCPUs() cpuset.CPUSet {
	r, _ := allocatable.ReadReservations(n.config)
	if !r.CPUs.IsEmpty() || n.config.CPUManagerPolicy != kubelet.CPUPolicyStatic || n.machine == nil {
		return r.CPUs
	}
	m, err := simulate.NewCPUManager(n.config, n.machine, r)
	if err != nil {
		return cpuset.CPUSet{}
	}
	return m.Reserved()
}

// enforcementFindings are reserved cgroups to be enforced without anything
// reserved.
func (n *node) enforcementFindings() []kubelet.Finding {
	result, _ := allocatable.Compute(n.config, n.onNode())
	return cgroups.UnreservedFindings(result.Enforced, n.driver)
}
