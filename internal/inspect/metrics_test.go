package inspect

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kqos/kqos/internal/cgroups"
)

// TestMetrics counts a look, and forgets the one before.
func TestMetrics(t *testing.T) {
	r := prometheus.NewRegistry()
	m, err := NewMetrics(r)
	if err != nil {
		t.Fatal(err)
	}
	m.Looked(Look{
		Report:  &Report{Cgroups: []Cgroup{{Level: cgroups.LevelQoS, Drift: make([]Drift, 7)}}, Leaks: make([]Leak, 9)},
		Refused: map[string]int{"OutOfcpu": 4}, Partial: true,
	})
	m.Looked(Look{
		Report: &Report{
			Cgroups: []Cgroup{
				{Level: cgroups.LevelNode},
				{Level: cgroups.LevelPod, Drift: make([]Drift, 2)},
				{Level: cgroups.LevelPod, Drift: make([]Drift, 1)},
				{Level: cgroups.LevelPod, Missing: true, Drift: make([]Drift, 1)},
			},
			Leaks: make([]Leak, 1), Intruders: make([]Intruder, 2),
		},
		Refused: map[string]int{"TopologyAffinityError": 3}, Invalid: map[string]bool{"cpu_manager_state": true, "memory_manager_state": false},
	})
	m.Failed()
	want := map[string]float64{
		"kqos_inspect_cgroups node": 1, "kqos_inspect_cgroups pod": 2,
		"kqos_inspect_drifted_files node": 0, "kqos_inspect_drifted_files pod": 3,
		"kqos_inspect_missing_cgroups": 1, "kqos_inspect_leaked_cgroups": 1, "kqos_inspect_intruders": 2, "kqos_inspect_sees_host": 1,
		"kqos_inspect_refused_pods TopologyAffinityError": 3, "kqos_inspect_failures_total": 1,
		"kqos_inspect_invalid_state_files cpu_manager_state": 1, "kqos_inspect_invalid_state_files memory_manager_state": 0,
		"kqos_inspect_look_duration_seconds": 2,
	}
	if d := cmp.Diff(want, gathered(t, r)); d != "" {
		t.Error("-want +got:\n" + d)
	}
	var nobody *Metrics
	nobody.Looked(Look{Report: &Report{}})
	nobody.Failed()
}

// gathered are the values by name and labels, of a histogram its count; times are
// left out.
func gathered(t *testing.T, r *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			key := f.GetName()
			for _, l := range m.GetLabel() {
				key += fmt.Sprintf(" %s", l.GetValue())
			}
			values[key] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	delete(values, "kqos_inspect_last_look_timestamp_seconds")
	return values
}
