package inspect

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are what looking again and again tells Prometheus. A nil Metrics tells
// nothing.
type Metrics struct {
	cgroups, drift, refused, state *prometheus.GaugeVec
	missing, leaks, intruders      prometheus.Gauge
	whole, last                    prometheus.Gauge
	failures                       prometheus.Counter
	looks                          prometheus.Histogram
}

// NewMetrics registers the metrics.
func NewMetrics(r prometheus.Registerer) (*Metrics, error) {
	gauge := func(name, help string) prometheus.GaugeOpts {
		return prometheus.GaugeOpts{Namespace: "kqos", Subsystem: "inspect", Name: name, Help: help}
	}
	m := &Metrics{
		cgroups:   prometheus.NewGaugeVec(gauge("cgroups", "Cgroups that are there, by level."), []string{"level"}),
		drift:     prometheus.NewGaugeVec(gauge("drifted_files", "Control files that read other than the kubelet writes them, by level of the cgroup."), []string{"level"}),
		refused:   prometheus.NewGaugeVec(gauge("refused_pods", "Pods that the kubelet refused to place, by its reason."), []string{"reason"}),
		state:     prometheus.NewGaugeVec(gauge("invalid_state_files", "1 for a checkpoint file for which the kubelet would not start again, else 0."), []string{"file"}),
		missing:   prometheus.NewGauge(gauge("missing_cgroups", "Cgroups that the kubelet makes and that are not there.")),
		leaks:     prometheus.NewGauge(gauge("leaked_cgroups", "Pod cgroups of pods that nobody knows any more.")),
		intruders: prometheus.NewGauge(gauge("intruders", "Threads and interrupts that may run on CPUs which belong to one container alone.")),
		whole:     prometheus.NewGauge(gauge("sees_host", "1 where the whole host is seen, 0 where only a container of it is.")),
		last:      prometheus.NewGauge(gauge("last_look_timestamp_seconds", "When the last look ended.")),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kqos_inspect_failures_total", Help: "Looks that failed.",
		}),
		looks: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "kqos_inspect_look_duration_seconds", Help: "Time of one look.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}),
	}
	for _, c := range []prometheus.Collector{
		m.cgroups, m.drift, m.refused, m.state, m.missing, m.leaks, m.intruders, m.whole, m.last, m.failures, m.looks,
	} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Look is what one look is counted by.
type Look struct {
	Report *Report
	// Refused counts the pods that the kubelet refused, by its reason.
	Refused map[string]int
	// Invalid tells of each checkpoint file that was judged whether the kubelet
	// would not start with it.
	Invalid map[string]bool
	// Partial says that only a part of the host is seen.
	Partial bool
	Took    time.Duration
}

// Looked tells what a look saw.
func (m *Metrics) Looked(l Look) {
	if m == nil {
		return
	}
	for _, vector := range []*prometheus.GaugeVec{m.cgroups, m.drift, m.refused, m.state} {
		vector.Reset()
	}
	missing := 0
	for i := range l.Report.Cgroups {
		c := &l.Report.Cgroups[i]
		level := string(c.Level)
		if c.Missing {
			missing++
			continue
		}
		m.cgroups.WithLabelValues(level).Inc()
		m.drift.WithLabelValues(level).Add(float64(len(c.Drift)))
	}
	for reason, n := range l.Refused {
		m.refused.WithLabelValues(reason).Set(float64(n))
	}
	for file, invalid := range l.Invalid {
		m.state.WithLabelValues(file).Set(oneIf(invalid))
	}
	m.missing.Set(float64(missing))
	m.leaks.Set(float64(len(l.Report.Leaks)))
	m.intruders.Set(float64(len(l.Report.Intruders)))
	m.whole.Set(oneIf(!l.Partial))
	m.looks.Observe(l.Took.Seconds())
	m.last.SetToCurrentTime()
}

// Failed counts a look that could not be finished.
func (m *Metrics) Failed() {
	if m != nil {
		m.failures.Inc()
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
