package cpumanager

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

func hintText(hints topologymanager.Hints) string {
	list, ok := hints[string(corev1.ResourceCPU)]
	if !ok {
		return "no preference"
	}
	var words []string
	for _, h := range list {
		words = append(words, h.String())
	}
	return strings.Join(words, " ")
}

func TestHints(t *testing.T) {
	t.Parallel()
	const fourNodes = "sockets=2,numa=4,cores=16,threads=1"
	tests := []struct {
		name    string
		options []string
		// used are CPUs of earlier pods.
		used    []string
		request string
		want    string
	}{
		{"each node that has room", nil, nil, "4", "1+ 2+ 3+ 0,1 0,2 0,3 1,2 1,3 2,3 0,1,2 0,1,3 0,2,3 1,2,3 0,1,2,3"},
		{"no preferred one when only wider sets are free", nil, []string{"2", "2", "2", "2"}, "4", "1,2 1,3 2,3 0,1,2 0,1,3 0,2,3 1,2,3 0,1,2,3"},
		{"two nodes", nil, nil, "8", "1,2+ 1,3+ 2,3+ 0,1,2 0,1,3 0,2,3 1,2,3 0,1,2,3"},
		{"a socket", []string{OptionAlignBySocket}, nil, "3", "0+ 1+ 2+ 3+ 0,1+ 0,2 0,3 1,2 1,3 2,3+ 0,1,2 0,1,3 0,2,3 1,2,3 0,1,2,3"},
		{"more than the machine", nil, nil, "17", ""},
		{"a fraction", nil, nil, "1500m", "no preference"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := started(t, synthetic(t, fourNodes), "1", tt.options...)
			for i, n := range tt.used {
				pod := newPod(string(rune('a'+i)), container("c", n))
				if err := m.Allocate(pod, &pod.Spec.Containers[0], topologymanager.Hint{Affinity: 1 << i}); err != nil {
					t.Fatal(err)
				}
			}
			pod := newPod("p", container("c", tt.request))
			hints, err := m.Hints(pod, &pod.Spec.Containers[0])
			if err != nil {
				t.Fatal(err)
			}
			if got := hintText(hints); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestHintsOfWhatIsAllocated(t *testing.T) {
	t.Parallel()
	m := started(t, synthetic(t, "sockets=2,numa=2,cores=8,threads=1"), "1")
	pod := newPod("p", container("c", "2"))
	if err := m.Allocate(pod, &pod.Spec.Containers[0], topologymanager.Hint{Affinity: 2}); err != nil {
		t.Fatal(err)
	}
	for request, want := range map[string]string{"2": "1+ 0,1", "3": ""} {
		again := newPod("p", container("c", request))
		hints, err := m.Hints(again, &again.Spec.Containers[0])
		if got := hintText(hints); err != nil || got != want {
			t.Errorf("%s CPUs: %q, %v, want %q", request, got, err, want)
		}
	}
}
