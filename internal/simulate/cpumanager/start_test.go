package cpumanager

import (
	"testing"

	"k8s.io/utils/cpuset"
)

func entries(pod, container, set string) map[string]map[string]cpuset.CPUSet {
	return map[string]map[string]cpuset.CPUSet{pod: {container: list(set)}}
}

func TestStart(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		strict bool
		state  State
		want   string
	}{
		{"no file", false, State{}, ""},
		{"as written", false, State{Default: list("0,2-3"), Entries: entries("u", "c", "1")}, ""},
		{"nothing shared", false, State{Entries: entries("u", "c", "1")}, "default cpuset cannot be empty"},
		{"reserved not shared", false, State{Default: list("1-3")}, `not all reserved cpus: "0" are present in defaultCpuSet: "1-3"`},
		{"reserved shared", true, State{Default: list("0-3")}, `some of strictly reserved cpus: "0" are present in defaultCpuSet: "0-3"`},
		{"overlap", false, State{Default: list("0-3"), Entries: entries("u", "c", "1")}, `pod: u, container: c cpuset: "1" overlaps with default cpuset "0-3"`},
		{"a CPU went offline", false, State{Default: list("0-4")}, `current set of available CPUs "0-3" doesn't match with CPUs in state "0-4"`},
		{"strict leaves the reserved out", true, State{Default: list("1-3")}, ""},
		{"pod entries without their gate", false, State{Default: list("0-1"), PodEntries: map[string]cpuset.CPUSet{"u": list("2-3")}}, `current set of available CPUs "0-3" doesn't match with CPUs in state "0-1"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var options []string
			if tt.strict {
				options = append(options, OptionStrictReservation)
			}
			m := started(t, synthetic(t, "sockets=1,numa=1,cores=4,threads=1"), "1", options...)
			if got := errorText(m.Start(tt.state)); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
