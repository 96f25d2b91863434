package deploy

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/kqos/kqos/internal/apply"
	"github.com/kqos/kqos/internal/inspect"
)

// collected notes the names of all metrics that are registered.
type collected struct{ names map[string]bool }

func (c collected) Register(m prometheus.Collector) error {
	descriptions := make(chan *prometheus.Desc, 16)
	go func() {
		m.Describe(descriptions)
		close(descriptions)
	}()
	named := regexp.MustCompile(`fqName: "([^"]+)"`)
	for d := range descriptions {
		name := named.FindStringSubmatch(d.String())[1]
		for _, ending := range []string{"", "_bucket", "_sum", "_count"} {
			c.names[name+ending] = true
		}
	}
	return nil
}

func (c collected) MustRegister(list ...prometheus.Collector) {
	for _, m := range list {
		_ = c.Register(m)
	}
}

func (collected) Unregister(prometheus.Collector) bool { return false }

// exported are the metrics that kqos serves.
func exported(t *testing.T) map[string]bool {
	t.Helper()
	// Of the Go process collectors.
	c := collected{map[string]bool{"process_resident_memory_bytes": true}}
	if _, err := apply.NewMetrics(c); err != nil {
		t.Fatal(err)
	}
	if _, err := inspect.NewMetrics(c); err != nil {
		t.Fatal(err)
	}
	return c.names
}

// checkNames finds metrics of an expression that kqos does not export.
func checkNames(t *testing.T, where string, e parser.Expr, names map[string]bool) {
	t.Helper()
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		v, ok := n.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		for _, m := range v.LabelMatchers {
			if m.Name != model.MetricNameLabel {
				continue
			}
			for name := range strings.SplitSeq(m.Value, "|") {
				if !names[name] {
					t.Errorf("%s: kqos exports no metric %s", where, name)
				}
			}
		}
		return nil
	})
}

func TestRules(t *testing.T) {
	p := parser.NewParser(parser.Options{})
	groups, errs := rulefmt.ParseFile("../../deploy/prometheus/rules.yaml", false, model.UTF8Validation, p, promslog.NewNopLogger())
	for _, err := range errs {
		t.Error(err)
	}
	if groups == nil {
		t.FailNow()
	}
	names, rules := exported(t), 0
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			rules++
			e, err := p.ParseExpr(r.Expr)
			if err != nil {
				t.Errorf("%s: %v", r.Alert, err)
				continue
			}
			checkNames(t, r.Alert, e, names)
			if r.Annotations["summary"] == "" || r.Annotations["description"] == "" || r.Labels["severity"] == "" {
				t.Errorf("%s has no summary, description or severity", r.Alert)
			}
		}
	}
	if rules < 10 {
		t.Errorf("only %d rules: the file was not read", rules)
	}
}

func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../../deploy/grafana/kqos.json")
	if err != nil {
		t.Fatal(err)
	}
	// Without its plugins the package leaves the panels' options and queries alone.
	plugins.RegisterDefaultPlugins()
	var d dashboard.Dashboard //nolint:staticcheck // the second version is no form of what Grafana imports from a file of the first
	// Where nothing is wrong, the error is an empty list of errors.
	if err := d.UnmarshalJSONStrict(text); err != nil && err.Error() != "" {
		t.Error(err)
	}
	if err := d.Validate(); err != nil && err.Error() != "" {
		t.Error(err)
	}
	if len(d.Panels) < 10 {
		t.Errorf("only %d panels", len(d.Panels))
	}
	expressions := regexp.MustCompile(`"expr": ("(?:[^"\\]|\\.)*")`).FindAllStringSubmatch(string(text), -1)
	names, p := exported(t), parser.NewParser(parser.Options{})
	for _, found := range expressions {
		expr := unquoted(t, found[1])
		e, err := p.ParseExpr(strings.ReplaceAll(expr, "$__rate_interval", "5m"))
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		checkNames(t, expr, e, names)
	}
	if len(expressions) < len(d.Panels) {
		t.Errorf("%d expressions in %d panels", len(expressions), len(d.Panels))
	}
}

func unquoted(t *testing.T, text string) string {
	t.Helper()
	var s string
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}
