package kubelet

import (
	"fmt"
	"path"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"
	tracingapi "k8s.io/component-base/tracing/api/v1"
)

// observability has the metrics, logging and tracing parts, which component-base
// validates with its own code.
func (v *validator) observability() {
	v.hiddenMetrics()
	registerJSONLogs()
	for _, e := range logsapi.Validate(&v.Logging, gateReader{gates: v.Gates}, field.NewPath("logging")) {
		v.add(e.Field, e.Error())
	}
	for _, e := range tracingapi.ValidateTracingConfiguration(v.Tracing, nil, field.NewPath("tracing")) {
		v.add(e.Field, e.Error())
	}
}

// kubelet v1.37: component-base/metrics ValidateShowHiddenMetricsVersion.
func (v *validator) hiddenMetrics() {
	const name = "showHiddenMetricsForVersion"
	previous := (v.Gates.minor() - 1).String()
	shown := v.ShowHiddenMetricsForVersion
	switch {
	case shown == "" || shown == previous:
	case !v.Gates.Since(36):
		v.add(name, fmt.Sprintf("--show-hidden-metrics-for-version must be omitted or have the value '%s'. Only the previous minor version is allowed", previous))
	default:
		e := field.Invalid(field.NewPath(name), shown, fmt.Sprintf("must be omitted or have the value '%s'; only the previous minor version is allowed", previous))
		v.add(name, fmt.Sprintf("invalid %s: %v", name, e))
	}
}

// registerJSONLogs makes the json format known to component-base, as the
// kubelet's main package does. kqos writes no such logs, so the format needs no
// factory. The only error is a second registration.
var registerJSONLogs = sync.OnceFunc(func() {
	_ = logsapi.RegisterLogFormat(logsapi.JSONLogFormat, nil, logsapi.LoggingBetaOptions)
})

// gateReader lets component-base ask for a gate; it asks for nothing else.
type gateReader struct {
	featuregate.FeatureGate
	gates Gates
}

func (r gateReader) Enabled(name featuregate.Feature) bool { return r.gates.Enabled(string(name)) }

func cleanPath(p string) bool { return path.Clean(p) == p }
