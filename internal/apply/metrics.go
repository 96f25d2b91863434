package apply

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kqos/kqos/internal/cgroups"
)

// Metrics are what a Loop tells Prometheus. A nil Metrics tells nothing.
type Metrics struct {
	desired, actual  *prometheus.GaugeVec
	drift, withheld  prometheus.Gauge
	contended        prometheus.Gauge
	writes, failures prometheus.Counter
	changed          *prometheus.CounterVec
	ticks            prometheus.Histogram
}

// NewMetrics registers the metrics.
func NewMetrics(r prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		desired: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "kqos_cgroups_desired", Help: "Cgroups that are wanted, by level.",
		}, []string{"level"}),
		actual: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "kqos_cgroups_actual", Help: "Wanted cgroups that exist, by level.",
		}, []string{"level"}),
		drift: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "kqos_drift_changes", Help: "Changes that separated the host from what is wanted at the last tick.",
		}),
		withheld: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "kqos_withheld_changes", Help: "Changes of the last tick that were not made, for safety.",
		}),
		contended: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "kqos_contended_files", Help: "Control files that another writer keeps changing back.",
		}),
		writes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kqos_writes_total", Help: "Control files written.",
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kqos_errors_total", Help: "Operations that failed, and inputs that could not be read.",
		}),
		changed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kqos_cgroups_changed_total", Help: "Cgroups created, updated and removed.",
		}, []string{"op"}),
		ticks: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "kqos_tick_duration_seconds", Help: "Time of one tick.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
		}),
	}
	for _, c := range []prometheus.Collector{
		m.desired, m.actual, m.drift, m.withheld, m.contended, m.writes, m.failures, m.changed, m.ticks,
	} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// passed tells what a tick found and did.
func (m *Metrics) passed(p *Plan, r *Result, err error, contended int, took time.Duration) {
	if m == nil {
		return
	}
	m.desired.Reset()
	m.actual.Reset()
	for _, cg := range p.Tree.Cgroups {
		level := string(cg.Level)
		m.desired.WithLabelValues(level).Inc()
		if p.Live[cg.Path].Exists {
			m.actual.WithLabelValues(level).Inc()
		}
	}
	m.drift.Set(float64(len(p.Changes())))
	m.withheld.Set(float64(len(p.Withheld)))
	m.contended.Set(float64(contended))
	m.writes.Add(float64(r.Writes))
	m.failures.Add(float64(len(r.Errors)))
	if err != nil {
		m.failures.Inc()
	}
	m.changed.WithLabelValues(string(cgroups.OpCreate)).Add(float64(r.Created))
	m.changed.WithLabelValues(string(cgroups.OpUpdate)).Add(float64(r.Updated))
	m.changed.WithLabelValues(string(cgroups.OpRemove)).Add(float64(r.Removed))
	m.ticks.Observe(took.Seconds())
}

// failed counts an error outside of a tick.
func (m *Metrics) failed() {
	if m != nil {
		m.failures.Inc()
	}
}
