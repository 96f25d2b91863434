package cli

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestParseCapacity(t *testing.T) {
	for pair, want := range map[string]string{
		"cpu=8":                   "cpu 8",
		" memory = 32Gi ":         "memory 32Gi",
		"hugepages-2048Ki=1Gi":    "hugepages-2Mi 1Gi",
		"pid=32768":               "pid 32768",
		"swap=0":                  "swap 0",
		"memory":                  "must be NAME=QUANTITY",
		"memory=much":             "quantities must match",
		"memory=-1":               "can't be negative",
		"cpu=9e18":                "no kernel runs more than",
		"memory=1e30":             "2^63-1",
		"gpu=1":                   "unknown resource",
		"hugepages-=1":            "unknown resource",
		"hugepages-0=1":           "unknown resource",
		"hugepages-big=1":         "unknown resource",
		"ephemeral-storage=100Gi": "ephemeral-storage 100Gi",
	} {
		name, q, err := parseCapacity(pair)
		got := string(name) + " " + q.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", pair, got, want)
		}
	}
}

// What is known of another machine never comes from this host.
func TestCapacityOfElsewhere(t *testing.T) {
	n := nodeFlags{hostRoot: "/", capacity: []string{"memory=1Gi"}}
	got, from, err := n.loadCapacity(t.Context(), nil, true)
	if err != nil || len(got) != 1 || got.Memory().Value() != 1<<30 {
		t.Errorf("capacity %v, error %v, want 1Gi of memory alone", got, err)
	}
	if from[corev1.ResourceMemory] != "--capacity" {
		t.Errorf("memory is from %q", from[corev1.ResourceMemory])
	}
	if _, ok := got[corev1.ResourceEphemeralStorage]; ok {
		t.Error("the size of this host's file system is used for another machine")
	}
}
